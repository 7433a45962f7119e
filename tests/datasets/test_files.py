"""Sets that are files: absent ones say where to put them, present ones are as documented."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from coterie.datasets import available, data_home, load, pccc_constraints
from coterie.exceptions import InvalidParameter, MissingData

needs_data = pytest.mark.skipif(
    not data_home().is_dir(), reason=f"the data folder {data_home()} (COTERIE_DATA) is absent"
)


@pytest.mark.parametrize(
    "name", ["glass", "mnist", "news_similar_3", "classic3", "pccc/col1/iris", "pendigits_389"]
)
def test_absent_data_says_which_file_to_put_where(name, monkeypatch, tmp_path):
    monkeypatch.setenv("COTERIE_DATA", str(tmp_path))
    with pytest.raises(MissingData, match="COTERIE_DATA") as error:
        load(name)
    assert str(tmp_path) in str(error.value)
    assert isinstance(error.value, FileNotFoundError)
    assert name not in available()
    assert "/" in name or name in available(missing=True)


def test_a_table_is_read_from_the_folder_named_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("COTERIE_DATA", str(tmp_path))
    with gzip.open(tmp_path / "crabs.csv.gz", "wt") as file:
        file.write("FL,RW,class\n1.5,2,b\n3,4,a\n-5e-1,6,b\n")
    bunch = load("crabs")
    np.testing.assert_array_equal(bunch.data, [[1.5, 2], [3, 4], [-0.5, 6]])
    assert list(bunch.target_names[bunch.target]) == ["b", "a", "b"]
    assert bunch.feature_names == ["FL", "RW"]
    assert "crabs" in available()


def test_numeric_class_names_are_ordered_as_numbers(monkeypatch, tmp_path):
    monkeypatch.setenv("COTERIE_DATA", str(tmp_path))
    with gzip.open(tmp_path / "crabs.csv.gz", "wt") as file:
        file.write("FL,class\n1,10\n2,9\n3,-1.0\n4,9\n")
    bunch = load("crabs")
    assert list(bunch.target_names) == ["-1.0", "9", "10"]
    np.testing.assert_array_equal(bunch.target, [2, 1, 0, 1])


@needs_data
@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "shape", "n_classes"),
    [
        ("ionosphere", (351, 34), 2),
        ("glass", (214, 9), 6),
        ("ecoli", (336, 7), 8),
        ("letter", (20_000, 16), 26),
        ("letters_ijl", (227, 16), 3),
        ("pendigits", (10_992, 16), 10),
        ("pendigits_389", (317, 16), 3),
        ("pendigits_0689", (3_000, 16), 4),
        ("crabs", (200, 5), 4),
        ("protein", (116, 20), 6),
        ("shuttle", (57_999, 9), 7),
        ("banana", (5_300, 2), 2),
        ("mnist", (70_000, 784), 10),
        ("mnist_2000", (2_000, 50), 10),
        ("waveform40", (5_000, 40), 3),
        ("shapes2d/3-spiral", (312, 2), 3),
        ("pccc/col1/zoo", (101, 16), 7),
        ("pccc/col2/n300-k20-s10", (300, 2), 20),
        ("pccc/col3/n500-k5", (500, 2), 5),
    ],
)
def test_tables_have_the_documented_shape(name, shape, n_classes):
    bunch = load(name)
    assert bunch.data.shape == shape
    assert bunch.target.shape == shape[:1]
    assert set(bunch.target) == set(range(n_classes))
    assert len(bunch.target_names) == n_classes
    assert len(bunch.feature_names) == shape[1]


@needs_data
@pytest.mark.shared_data
def test_generated_balance_scale_is_the_uci_file_row_by_row():
    made = load("balance_scale")
    with gzip.open(data_home() / "balance_scale.csv.gz", "rt") as lines:
        rows = [line.strip().split(",") for line in lines][1:]
    np.testing.assert_array_equal(made.data, np.array([row[:-1] for row in rows], dtype=float))
    assert list(made.target_names[made.target]) == [row[-1] for row in rows]


@needs_data
@pytest.mark.shared_data
def test_samples_are_the_first_rows_of_the_permutation():
    whole, sample = load("pendigits"), load("pendigits_389")
    rows = np.flatnonzero(np.isin(whole.target, [3, 8, 9]))
    chosen = np.random.default_rng(0).permutation(rows)[:317]
    np.testing.assert_array_equal(sample.data, whole.data[chosen])
    np.testing.assert_array_equal(
        sample.target_names[sample.target].astype(int), whole.target[chosen]
    )


@needs_data
@pytest.mark.shared_data
def test_glass_of_the_paper_has_the_row_number_as_a_feature():
    plain, paper = load("glass"), load("glass", protocol="paper")
    np.testing.assert_array_equal(paper.data[:, 1:], plain.data)
    np.testing.assert_array_equal(paper.data[:, 0], np.arange(1, 215))
    assert (np.diff(plain.target) >= 0).all()  # UCI order: sorted by class, as the numbers are
    with pytest.raises(InvalidParameter, match="protocol"):
        load("glass", protocol="papers")


@needs_data
@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "counts", "words"),
    [
        ("news_different_3", [100] * 3, (2000, 4500)),
        ("news_related_3", [100] * 3, (2000, 4500)),
        ("news_similar_3", [100] * 3, (1500, 4500)),
        ("classic3_subset", [200, 100, 100], (1500, 4000)),
    ],
)
def test_text_sets_are_sparse_unit_rows_of_about_the_published_size(name, counts, words):
    bunch = load(name)
    assert sparse.issparse(bunch.data)
    assert bunch.data.format == "csr"
    np.testing.assert_array_equal(np.bincount(bunch.target), counts)
    assert words[0] < bunch.data.shape[1] < words[1]
    assert bunch.data.shape[1] == len(bunch.feature_names)
    lengths = np.sqrt(np.asarray(bunch.data.multiply(bunch.data).sum(axis=1)).ravel())
    np.testing.assert_allclose(lengths[lengths > 0], 1)
    assert not {"the", "and", "from"} & set(bunch.feature_names)


def test_news_keep_no_header_that_names_the_group(monkeypatch, tmp_path):
    monkeypatch.setenv("COTERIE_DATA", str(tmp_path))
    message = "Newsgroups: {0}\nSubject: Re: {1}\nPath: a!b\n\nbody of {1}\n\nand more"
    with gzip.open(tmp_path / "newsgroups20.jsonl.gz", "wt") as file:
        for group, about in (("sci.space", "moon"), ("rec.autos", "wheels")) * 3:
            text = message.format(group, about)
            file.write(json.dumps({"text": text, "class": group}) + "\n")
    bunch = load("news_all_20")
    assert sorted(set(bunch.texts)) == [
        f" Re: {about}\nbody of {about}\n\nand more" for about in ("moon", "wheels")
    ]


@needs_data
@pytest.mark.shared_data
def test_rare_and_common_words_are_dropped_and_counts_are_whole():
    bunch = load("news_different_3", weighting="counts")
    present = np.asarray((bunch.data > 0).sum(axis=0)).ravel()
    assert present.min() >= 3
    assert present.max() <= 150
    assert set(np.unique(bunch.data.data % 1)) == {0.0}


@needs_data
@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "fraction", "n_pairs"),
    [
        ("banana", 0.005, 351),
        ("letter", 0.01, 19_900),
        ("pccc/col1/iris", 0.05, 28),
        ("pccc/col2/n300-k20-s10", 0.1, 435),
        ("pccc/col3/n500-k5", 0.05, 300),
    ],
)
def test_pccc_pairs_follow_the_classes(name, fraction, n_pairs):
    target = load(name).target
    pairs = pccc_constraints(name, fraction, target)
    assert (pairs.n_samples, pairs.n_pairs) == (target.size, n_pairs)
    same = target[pairs.pairs[:, 0]] == target[pairs.pairs[:, 1]]
    np.testing.assert_array_equal(pairs.kind > 0, same)
    with pytest.raises(InvalidParameter, match="use 0"):
        pccc_constraints(name, 0.123, target)


@needs_data
@pytest.mark.shared_data
def test_pccc_ecoli_is_the_published_form_and_the_other_the_true_one():
    def inertia(name):
        bunch = load(name)
        rows = StandardScaler().fit_transform(bunch.data)
        return sum(
            ((rows[bunch.target == k] - rows[bunch.target == k].mean(axis=0)) ** 2).sum()
            for k in range(len(bunch.target_names))
        )

    assert inertia("pccc/col1/ecoli") == pytest.approx(1335.3, abs=0.1)
    assert inertia("ecoli") == pytest.approx(963.5, abs=0.1)


@needs_data
@pytest.mark.shared_data
def test_textures_and_count_matrix():
    assert load("textures").images.shape == (3, 512, 512)
    counts = load("classic3_counts")
    assert counts.data.shape == (3891, 4303)
    np.testing.assert_array_equal(np.bincount(counts.target), [1033, 1460, 1398])
