"""Estimators and values to JSON and .npy, and back, without executing what is read.

JSON values that are not plain are objects with a tag ``"$"``; `Writer` and `Reader` are each
other's inverse. Used by `coterie.persistence` alone.
"""

from __future__ import annotations

import importlib
import inspect
import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from coterie._npy import load_npy
from coterie.constraints import Constraints, PairTable
from coterie.distortions import Distortion
from coterie.exceptions import InvalidModel

INDEX = "model.json"
_ARRAY_FILE = re.compile(r"\d+\.npy")
_FITTED = re.compile(r"[A-Za-z](\w*[^_])?_")
_PUBLIC_MODULE = re.compile(r"coterie(\.[a-z][a-z0-9_]*)*")
_ARRAY_KINDS = "biufcU"
_SPARSE = {
    cls.__name__: cls
    for cls in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array)
}
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def _class_name(cls: type) -> str:
    """The public path of a class: the nearest parent package whose `__all__` names it."""
    parts = cls.__module__.split(".")
    for depth in range(1, len(parts) + 1) if parts[0] == "coterie" else ():
        module = importlib.import_module(".".join(parts[:depth]))
        if cls.__name__ in getattr(module, "__all__", ()):
            return f"{module.__name__}:{cls.__name__}"
    return f"{cls.__module__}:{cls.__qualname__}"


def _is_generator(value: Any) -> bool:
    return isinstance(value, np.random.Generator | np.random.RandomState)


def _fitted(model: Any) -> dict[str, Any]:
    """Fitted attributes: names that end in one "_" and do not begin with one."""
    return {
        name: value
        for name, value in vars(model).items()
        if _FITTED.fullmatch(name) and not _is_generator(value)
    }


def _is_value(cls: type) -> bool:
    """Whether a class is rebuilt by its constructor from the attributes of the same names."""
    named_tuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
    return issubclass(cls, Constraints | PairTable | Distortion) or named_tuple


def _value_fields(value: Any) -> dict[str, Any]:
    """What the constructor of a value takes."""
    if isinstance(value, Constraints):
        must = value.kind > 0
        return {
            "n_samples": value.n_samples,
            "must_link": value.pairs[must],
            "cannot_link": value.pairs[~must],
            "must_weight": value.weight[must],
            "cannot_weight": value.weight[~must],
            "must_certainty": value.certainty[must],
            "cannot_certainty": value.certainty[~must],
        }
    return {name: getattr(value, name) for name in inspect.signature(type(value)).parameters}


class Writer:
    """Python values to JSON values, arrays to numbered .npy files in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n_arrays = 0

    def encode(self, value: Any, where: str) -> Any:
        """`value` as JSON; `where` is its name, for the message if it cannot be saved."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else _tagged("float", value=repr(value))
        if isinstance(value, np.generic):
            return _tagged("scalar", array=self._array(np.asarray(value), where))
        if isinstance(value, np.ndarray):
            return _tagged("array", array=self._array(value, where))
        if sparse.issparse(value):
            return self._sparse(value, where)
        if type(value) in (list, tuple):
            items = [self.encode(item, f"{where}[{k}]") for k, item in enumerate(value)]
            return _tagged(type(value).__name__, items=items)
        if type(value) is dict:
            items = [
                [self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()
            ]
            return _tagged("dict", items=items)
        if _is_generator(value):
            return self._generator(value, where)
        return self._object(value, where)

    def _object(self, value: Any, where: str) -> Any:
        if _is_value(type(value)):
            fields = _value_fields(value)
            encoded = {name: self.encode(v, f"{where}.{name}") for name, v in fields.items()}
            return _tagged("value", cls=_class_name(type(value)), fields=encoded)
        if not hasattr(value, "get_params") or isinstance(value, type):
            raise InvalidModel(
                f"{where} is a {type(value).__name__}, which cannot be saved without pickle; use "
                "a named option, an array or an estimator in its place."
            )
        params, state = value.get_params(deep=False), _fitted(value)
        return _tagged(
            "estimator",
            cls=_class_name(type(value)),
            params={name: self.encode(v, f"{where}.{name}") for name, v in params.items()},
            fitted={name: self.encode(v, f"{where}.{name}") for name, v in state.items()},
        )

    def _array(self, value: np.ndarray, where: str) -> Any:
        if value.dtype == object and all(isinstance(item, str) for item in value.flat):
            return _tagged("names", values=value.ravel().tolist(), shape=list(value.shape))
        if value.dtype.kind not in _ARRAY_KINDS:
            raise InvalidModel(
                f"{where} is an array of {value.dtype}, which cannot be saved without pickle."
            )
        name = f"{self.n_arrays}.npy"
        self.n_arrays += 1
        np.save(self.folder / name, value, allow_pickle=False)
        return _tagged("file", name=name)

    def _sparse(self, value: Any, where: str) -> Any:
        form = type(value).__name__
        if form not in _SPARSE:
            raise InvalidModel(
                f"{where} is a {form}; of sparse matrices, only CSR and CSC are saved."
            )
        parts = {
            part: self._array(getattr(value, part), where) for part in ("data", "indices", "indptr")
        }
        return _tagged("sparse", format=form, shape=list(value.shape), parts=parts)

    def _generator(self, value: Any, where: str) -> Any:
        legacy = isinstance(value, np.random.RandomState)
        state = value.get_state(legacy=False) if legacy else value.bit_generator.state
        return _tagged("random", legacy=legacy, state=self.encode(state, where))


def _tagged(tag: str, **content: Any) -> dict[str, Any]:
    return {"$": tag, **content}


class Reader:
    """The inverse of `Writer`. Trusts nothing it reads."""

    def __init__(self, folder: Path, trusted: Iterable[type]) -> None:
        self.folder = folder
        self.trusted = {_class_name(cls): cls for cls in trusted}
        self.decoders: dict[str, Callable[[dict[str, Any]], Any]] = {
            "float": lambda node: float(node["value"]),
            "scalar": lambda node: self._array(node["array"])[()],
            "array": lambda node: self._array(node["array"]),
            "sparse": self._sparse,
            "list": lambda node: [self.decode(item) for item in node["items"]],
            "tuple": lambda node: tuple(self.decode(item) for item in node["items"]),
            "dict": lambda node: {self.decode(k): self.decode(v) for k, v in node["items"]},
            "random": self._random,
            "value": self._value,
            "estimator": self._estimator,
        }

    def decode(self, node: Any) -> Any:
        if node is None or isinstance(node, bool | int | float | str):
            return node
        tag = node.get("$") if isinstance(node, dict) else None
        if tag not in self.decoders:
            raise InvalidModel(f"{self.folder / INDEX} holds {tag!r}, which is not understood.")
        try:
            return self.decoders[tag](node)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, InvalidModel):
                raise
            raise InvalidModel(f"{self.folder / INDEX}: a damaged {tag!r}: {error}") from error

    def _class(self, name: str) -> type:
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

    def _estimator(self, node: dict[str, Any]) -> Any:
        cls = self._class(node["cls"])
        if not hasattr(cls, "get_params"):
            raise InvalidModel(f"{node['cls']!r} is not an estimator.")
        model = cls(**{name: self.decode(v) for name, v in node["params"].items()})
        for name, value in node["fitted"].items():
            if not _FITTED.fullmatch(name):
                raise InvalidModel(f"{self.folder}: {name!r} is not a fitted attribute.")
            setattr(model, name, self.decode(value))
        return model

    def _value(self, node: dict[str, Any]) -> Any:
        cls = self._class(node["cls"])
        if not _is_value(cls):
            raise InvalidModel(f"{node['cls']!r} is not a value that can be rebuilt.")
        return cls(**{name: self.decode(v) for name, v in node["fields"].items()})

    def _random(self, node: dict[str, Any]) -> Any:
        state = self.decode(node["state"])
        if state["bit_generator"] not in _BIT_GENERATORS:
            raise InvalidModel(f"{state['bit_generator']!r} is not a numpy bit generator.")
        bits = getattr(np.random, state["bit_generator"])()
        if node["legacy"]:
            generator = np.random.RandomState(bits)
            generator.set_state(state)
            return generator
        bits.state = state
        return np.random.Generator(bits)

    def _sparse(self, node: dict[str, Any]) -> Any:
        data, indices, indptr = (
            self._array(node["parts"][part]) for part in ("data", "indices", "indptr")
        )
        matrix = _SPARSE[node["format"]]((data, indices, indptr), shape=tuple(node["shape"]))
        matrix.check_format(full_check=True)
        return matrix

    def _array(self, node: dict[str, Any]) -> np.ndarray:
        if node["$"] == "names":
            return np.asarray(node["values"], dtype=object).reshape(node["shape"])
        name = node["name"]
        if not _ARRAY_FILE.fullmatch(name):
            raise InvalidModel(f"{self.folder}: {name!r} is not the name of an array file.")
        path = self.folder / name
        try:
            with path.open("rb") as stream:
                return load_npy(stream, path.stat().st_size)
        except OSError as error:
            raise InvalidModel(f"{path} cannot be read: {error}") from error
        except ValueError as error:
            raise InvalidModel(f"{path} {error}.") from error
