"""Write a .sas7bdat file: ReadStat can, and the library that reads them has it inside without a way to call it."""

import ctypes
import glob
from pathlib import Path

_STRING, _DOUBLE = 0, 5
_WRITE = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_POINTER, _TEXT = ctypes.c_void_p, ctypes.c_char_p
_ARGUMENTS = {
    "writer_init": [],
    "writer_free": [_POINTER],
    "set_data_writer": [_POINTER, _WRITE],
    "add_variable": [_POINTER, _TEXT, ctypes.c_int, ctypes.c_size_t],
    "variable_set_format": [_POINTER, _TEXT],
    "begin_writing_sas7bdat": [_POINTER, _POINTER, ctypes.c_long],
    "begin_row": [_POINTER],
    "end_row": [_POINTER],
    "end_writing": [_POINTER],
    "insert_missing_value": [_POINTER, _POINTER],
    "insert_tagged_missing_value": [_POINTER, _POINTER, ctypes.c_char],
    "insert_string_value": [_POINTER, _POINTER, _TEXT],
    "insert_double_value": [_POINTER, _POINTER, ctypes.c_double],
}


def write_sas7bdat(path, columns, rows):
    """Write rows of texts, numbers, None, or letters as bytes, which are kinds of missing; columns are name and format.

    A format that is a number is the width of a text.
    """
    library = _Library()
    content = bytearray()

    def take(data, size, _):
        content.extend(ctypes.string_at(data, size))
        return size

    taker = _WRITE(take)
    writer = library("writer_init")
    library("set_data_writer", writer, taker)
    variables = [_variable(library, writer, name, form) for name, form in columns]
    library.done("begin_writing_sas7bdat", writer, None, len(rows))
    for row in rows:
        library.done("begin_row", writer)
        for variable, value in zip(variables, row, strict=True):
            _insert(library, writer, variable, value)
        library.done("end_row", writer)
    library.done("end_writing", writer)
    library("writer_free", writer)
    path.write_bytes(content)
    return path


class _Library:
    def __init__(self):
        import pyreadstat

        self.loaded = ctypes.CDLL(
            glob.glob(str(Path(pyreadstat.__file__).parent / "_readstat_writer*.so"))[0]
        )

    def __call__(self, name, *arguments):
        function = getattr(self.loaded, f"readstat_{name}")
        function.argtypes = _ARGUMENTS[name]
        function.restype = _POINTER if name in ("writer_init", "add_variable") else ctypes.c_int
        return function(*arguments)

    def done(self, name, *arguments):
        assert self(name, *arguments) == 0, name


def _variable(library, writer, name, form):
    width = form if isinstance(form, int) else 0
    variable = library("add_variable", writer, name.encode(), _STRING if width else _DOUBLE, width)
    if isinstance(form, str):
        library("variable_set_format", variable, form.encode())
    return variable


def _insert(library, writer, variable, value):
    if value is None:
        library.done("insert_missing_value", writer, variable)
    elif isinstance(value, bytes):
        library.done("insert_tagged_missing_value", writer, variable, value)
    elif isinstance(value, str):
        library.done("insert_string_value", writer, variable, value.encode())
    else:
        library.done("insert_double_value", writer, variable, float(value))
