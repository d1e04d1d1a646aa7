"""Read by every Python interpreter that has this folder in PYTHONPATH, before its program.

Attaches the embedded household, then hands over to the `sitecustomize` that this one hides, if any.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

import inhabit_thor_hook

inhabit_thor_hook.install()

_here = os.path.realpath(os.path.dirname(__file__))
_rest = [entry for entry in sys.path if os.path.realpath(entry) != _here]
_hidden = PathFinder.find_spec("sitecustomize", _rest)
if _hidden is not None and _hidden.loader is not None:
    _hidden.loader.exec_module(module_from_spec(_hidden))
