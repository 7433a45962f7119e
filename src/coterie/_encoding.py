"""Estimators and values to JSON and .npy, and back, without executing what is read.

JSON values that are not plain are objects with a tag ``"$"``. What stands behind a tag is written
and read by one `Codec`; a new kind of value is one codec and one row of a table. Classes answer
for themselves, in one of three ways:

- ``__coterie_state__()`` gives the arguments with which the class's constructor makes an equal
  object: `Constraints`, `PairTable` and every `Distortion` have it, and any class may.
- Named tuples have ``_asdict()``, which is the same.
- Estimators have ``get_params()``, and fitted attributes whose names end in one "_".

Used by `coterie.persistence` alone.
"""

from __future__ import annotations

import importlib
import json
import math
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from coterie._npy import load_npy
from coterie.exceptions import InvalidModel
from coterie.files import plain_file, write_array
from coterie.loaded import mark_loaded

INDEX = "model.json"
_ARRAY_FILE = re.compile(r"\d+\.npy")
_FITTED = re.compile(r"[A-Za-z](\w*[^_])?_")
_PUBLIC_MODULE = re.compile(r"coterie(\.[a-z][a-z0-9_]*)*")
_ARRAY_KINDS = "biufcU"
_PIECE = 1 << 20  # bytes of a file that are summed at once
_RETIRED = {"callback", "verbose"}  # parameters of 0.1 that watched a fit and changed no result
_SPARSE = {
    cls.__name__: cls
    for cls in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array)
}
_GENERATORS = (np.random.Generator, np.random.RandomState)
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def sum_of_file(path: Path) -> int:
    """A checksum, which tells damage and no malice."""
    total = 0
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            total = zlib.crc32(piece, total)
    return total


def sum_of_json(content: Any) -> int:
    """The same of a value of JSON, however it is laid out."""
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


class Writer:
    """Python values to JSON values, arrays to numbered .npy files in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n_arrays = 0
        self.sums: dict[str, int] = {}  # of the array files, by name

    def encode(self, value: Any, where: str) -> Any:
        """`value` as JSON; `where` is its name, for the message if it cannot be saved."""
        if value is None or type(value) in (bool, int, str):
            return value
        return _codec_for(value, where).encode(value, self, where)

    def encode_all(self, values: dict[str, Any], where: str) -> dict[str, Any]:
        """Each value as JSON, under the name it had."""
        return {name: self.encode(value, f"{where}.{name}") for name, value in values.items()}

    def array(self, value: np.ndarray, where: str) -> dict[str, Any]:
        """The array as a file, or as text where it holds names; what names it in JSON."""
        if value.dtype == object and all(isinstance(item, str) for item in value.flat):
            return _tagged("names", values=value.ravel().tolist(), shape=list(value.shape))
        if value.dtype.kind not in _ARRAY_KINDS:
            raise InvalidModel(
                f"{where} is an array of {value.dtype}, which cannot be saved without pickle."
            )
        name = f"{self.n_arrays}.npy"
        self.n_arrays += 1
        write_array(self.folder / name, value)
        self.sums[name] = sum_of_file(self.folder / name)
        return _tagged("file", name=name)


class Reader:
    """The inverse of `Writer`. Trusts nothing it reads."""

    def __init__(self, folder: Path, trusted: Iterable[type], sums: Any = None) -> None:
        self.folder = folder
        self.trusted = {_class_name(cls): cls for cls in trusted}
        self.sums = sums  # None: saved before there were any

    def decode(self, node: Any) -> Any:
        """What `Writer.encode` was given."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        tag = node.get("$") if isinstance(node, dict) else None
        if not isinstance(tag, str) or tag not in _BY_TAG:
            raise InvalidModel(f"{self.folder / INDEX} holds {tag!r}, which is not understood.")
        try:
            return _BY_TAG[tag].decode(node, self)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, InvalidModel):
                raise
            raise InvalidModel(f"{self.folder / INDEX}: a damaged {tag!r}: {error}") from error

    def decode_all(self, nodes: dict[str, Any]) -> dict[str, Any]:
        """The inverse of `Writer.encode_all`."""
        return {name: self.decode(node) for name, node in nodes.items()}

    def array(self, node: dict[str, Any]) -> np.ndarray:
        """The inverse of `Writer.array`."""
        if node["$"] == "names":
            return np.asarray(node["values"], dtype=object).reshape(node["shape"])
        name = node["name"]
        if not _ARRAY_FILE.fullmatch(name):
            raise InvalidModel(f"{self.folder}: {name!r} is not the name of an array file.")
        path = self.folder / name
        try:
            plain_file(path)
            if self.sums is not None and self.sums.get(name) != sum_of_file(path):
                raise InvalidModel(f"{path} is damaged: its checksum is another one.")
            with path.open("rb") as stream:
                return load_npy(stream, path.stat().st_size)
        except OSError as error:
            raise InvalidModel(f"{path} cannot be read: {error}") from error
        except ValueError as error:
            if isinstance(error, InvalidModel):
                raise
            raise InvalidModel(f"{path} {error}.") from error

    def named_class(self, name: str) -> type:
        """A trusted class, or a public one of Coterie; never anything else."""
        if name in self.trusted:
            return self.trusted[name]
        module_name, _, class_name = name.partition(":")
        if _PUBLIC_MODULE.fullmatch(module_name):
            try:
                module = importlib.import_module(module_name)
            except ImportError as error:
                raise InvalidModel(f"{self.folder} needs {module_name}: {error}") from error
            found = getattr(module, class_name, None)
            if (
                class_name in getattr(module, "__all__", ())
                and isinstance(found, type)
                and found.__module__.split(".")[0] == "coterie"
            ):
                return found
        raise InvalidModel(
            f"{self.folder} asks for the class {name!r}, which is not a public class of Coterie. "
            "If you trust it, pass trusted=[that class]."
        )


def _tagged(tag: str, **content: Any) -> dict[str, Any]:
    return {"$": tag, **content}


def _class_name(cls: type) -> str:
    """The public path of a class: the nearest parent package whose `__all__` names it."""
    parts = cls.__module__.split(".")
    for depth in range(1, len(parts) + 1) if parts[0] == "coterie" else ():
        module = importlib.import_module(".".join(parts[:depth]))
        if cls.__name__ in getattr(module, "__all__", ()):
            return f"{module.__name__}:{cls.__name__}"
    return f"{cls.__module__}:{cls.__qualname__}"


def _state_of(cls: type) -> Callable[[Any], dict[str, Any]] | None:
    """How an object of the class tells its constructor's arguments; None if it does not."""
    of_named_tuple = getattr(cls, "_asdict", None) if issubclass(cls, tuple) else None
    return getattr(cls, "__coterie_state__", of_named_tuple)


# -- one codec a tag -----------------------------------------------------------------------------
class Codec(ABC):
    """How values of one kind stand in JSON; `decode` is the inverse of `encode`."""

    tag: ClassVar[str]

    @abstractmethod
    def encode(self, value: Any, writer: Writer, where: str) -> Any:
        """The value as JSON."""

    @abstractmethod
    def decode(self, node: dict[str, Any], reader: Reader) -> Any:
        """The value again; `node` may hold anything."""


class _Float(Codec):
    """Floats that JSON has no word for; the others are plain."""

    tag = "float"

    def encode(self, value: float, writer: Writer, where: str) -> Any:
        return value if math.isfinite(value) else _tagged(self.tag, value=repr(value))

    def decode(self, node: dict[str, Any], reader: Reader) -> float:
        return float(node["value"])


class _Array(Codec):
    tag = "array"

    def encode(self, value: np.ndarray, writer: Writer, where: str) -> Any:
        return _tagged(self.tag, array=writer.array(value, where))

    def decode(self, node: dict[str, Any], reader: Reader) -> np.ndarray:
        return reader.array(node["array"])


class _Scalar(Codec):
    """NumPy's scalars, with their types."""

    tag = "scalar"

    def encode(self, value: np.generic, writer: Writer, where: str) -> Any:
        return _tagged(self.tag, array=writer.array(np.asarray(value), where))

    def decode(self, node: dict[str, Any], reader: Reader) -> Any:
        return reader.array(node["array"])[()]


class _Sequence(Codec):
    def encode(self, value: Any, writer: Writer, where: str) -> Any:
        items = [writer.encode(item, f"{where}[{k}]") for k, item in enumerate(value)]
        return _tagged(self.tag, items=items)


class _List(_Sequence):
    tag = "list"

    def decode(self, node: dict[str, Any], reader: Reader) -> list[Any]:
        return [reader.decode(item) for item in node["items"]]


class _Tuple(_Sequence):
    tag = "tuple"

    def decode(self, node: dict[str, Any], reader: Reader) -> tuple[Any, ...]:
        return tuple(reader.decode(item) for item in node["items"])


class _Dict(Codec):
    tag = "dict"

    def encode(self, value: dict[Any, Any], writer: Writer, where: str) -> Any:
        items = [
            [writer.encode(key, where), writer.encode(item, f"{where}[{key!r}]")]
            for key, item in value.items()
        ]
        return _tagged(self.tag, items=items)

    def decode(self, node: dict[str, Any], reader: Reader) -> dict[Any, Any]:
        return {reader.decode(key): reader.decode(item) for key, item in node["items"]}


class _SparseMatrix(Codec):
    tag = "sparse"
    parts = ("data", "indices", "indptr")

    def encode(self, value: Any, writer: Writer, where: str) -> Any:
        form = type(value).__name__
        if form not in _SPARSE:
            raise InvalidModel(
                f"{where} is a {form}; of sparse matrices, only CSR and CSC are saved."
            )
        parts = {part: writer.array(getattr(value, part), where) for part in self.parts}
        return _tagged(self.tag, format=form, shape=list(value.shape), parts=parts)

    def decode(self, node: dict[str, Any], reader: Reader) -> Any:
        arrays = tuple(reader.array(node["parts"][part]) for part in self.parts)
        matrix = _SPARSE[node["format"]](arrays, shape=tuple(node["shape"]))
        matrix.check_format(full_check=True)
        return matrix


class _Random(Codec):
    """Random generators, which go on where they were."""

    tag = "random"

    def encode(self, value: Any, writer: Writer, where: str) -> Any:
        legacy = isinstance(value, np.random.RandomState)
        state = value.get_state(legacy=False) if legacy else value.bit_generator.state
        return _tagged(self.tag, legacy=legacy, state=writer.encode(state, where))

    def decode(self, node: dict[str, Any], reader: Reader) -> Any:
        state = reader.decode(node["state"])
        if state["bit_generator"] not in _BIT_GENERATORS:
            raise InvalidModel(f"{state['bit_generator']!r} is not a numpy bit generator.")
        bits = getattr(np.random, state["bit_generator"])()
        if node["legacy"]:
            generator = np.random.RandomState(bits)
            generator.set_state(state)
            return generator
        bits.state = state
        return np.random.Generator(bits)


class _Value(Codec):
    """Objects that their constructor makes again from what they say of themselves."""

    tag = "value"

    def encode(self, value: Any, writer: Writer, where: str) -> Any:
        state = _state_of(type(value))
        assert state is not None
        fields = writer.encode_all(state(value), where)
        return _tagged(self.tag, cls=_class_name(type(value)), fields=fields)

    def decode(self, node: dict[str, Any], reader: Reader) -> Any:
        cls = reader.named_class(node["cls"])
        if _state_of(cls) is None:
            raise InvalidModel(f"{node['cls']!r} is not a value that can be rebuilt.")
        return cls(**reader.decode_all(node["fields"]))


class _Estimator(Codec):
    """Parameters and fitted attributes; fitted generators are left out."""

    tag = "estimator"

    def encode(self, value: Any, writer: Writer, where: str) -> Any:
        fitted = {
            name: found
            for name, found in vars(value).items()
            if _FITTED.fullmatch(name) and not isinstance(found, _GENERATORS)
        }
        return _tagged(
            self.tag,
            cls=_class_name(type(value)),
            params=writer.encode_all(value.get_params(deep=False), where),
            fitted=writer.encode_all(fitted, where),
        )

    def decode(self, node: dict[str, Any], reader: Reader) -> Any:
        cls = reader.named_class(node["cls"])
        if not hasattr(cls, "get_params"):
            raise InvalidModel(f"{node['cls']!r} is not an estimator.")
        params = reader.decode_all(node["params"])
        known = cls().get_params(deep=False) if _RETIRED & params.keys() else params
        model = cls(
            **{name: params[name] for name in params if name in known or name not in _RETIRED}
        )
        for name, found in node["fitted"].items():
            if not _FITTED.fullmatch(name):
                raise InvalidModel(f"{reader.folder}: {name!r} is not a fitted attribute.")
            setattr(model, name, reader.decode(found))
        mark_loaded(model, str(reader.folder))
        return model


# Types that cannot answer for themselves. Of Python's own only the type itself: a subclass of
# `dict` or `tuple` may hold more than its items. Of the others subclasses too.
_PLAIN: dict[type, Codec] = {float: _Float(), list: _List(), tuple: _Tuple(), dict: _Dict()}
_FAMILIES: dict[type, Codec] = {
    np.generic: _Scalar(),
    np.ndarray: _Array(),
    sparse.spmatrix: _SparseMatrix(),
    sparse.sparray: _SparseMatrix(),
    np.random.Generator: _Random(),
    np.random.RandomState: _Random(),
}
_VALUE, _ESTIMATOR = _Value(), _Estimator()
_BY_TAG = {
    codec.tag: codec for codec in (*_PLAIN.values(), *_FAMILIES.values(), _VALUE, _ESTIMATOR)
}


def _codec_for(value: Any, where: str) -> Codec:
    """By the table for types that are not ours, else by what the object's class can tell."""
    cls = type(value)
    if cls in _PLAIN:
        return _PLAIN[cls]
    for parent in cls.__mro__:
        if parent in _FAMILIES:
            return _FAMILIES[parent]
    if _state_of(cls) is not None:
        return _VALUE
    if hasattr(cls, "get_params"):
        return _ESTIMATOR
    raise InvalidModel(
        f"{where} is a {cls.__name__}, which cannot be saved without pickle; use a named option, "
        "an array or an estimator in its place."
    )
