"""Makes AI2-THOR's client start the embedded simulator instead of any other build.

This runs in the interpreter of that program, which need not have `inhabit`: it stands on the
standard library alone, and on Python 3.7. What it replaces in `ai2thor.controller` is where a build
of Unity is looked for, and the checks for a display and a GPU. All else is the client's own.
"""

from __future__ import annotations

import functools
import inspect
import os
import shlex
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Mapping, Sequence

EXECUTABLE = "INHABIT_THOR_EXECUTABLE"
"""Environment variable with the path of the simulator that is started."""
CLIENT = "INHABIT_THOR_CLIENT"
"""Environment variable of that simulator with the release of the client."""
VERSIONS = "2.1.0, 2.7.*, 4.3.0 and 5.0.0"
_MODULE = "ai2thor.controller"
_WRITTEN_BY_US = b"# Written by inhabit: starts the embedded household."

_UNITYS = ("commit_id", "branch", "local_build", "local_executable_path", "include_private_scenes")
"""Arguments that name a build of Unity."""
_MACHINES = ("gpu_device", "platform", "x_display", "start_unity", "server_class")
"""Arguments about how that build is started."""
_UNDRAWN = ("renderFlowImage",)

_said: set[str] = set()


def install() -> None:
    """Attach to `ai2thor.controller`: now if it is imported already, else as soon as it is."""
    if EXECUTABLE not in os.environ:
        return
    if _MODULE in sys.modules:
        attach(sys.modules[_MODULE])
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds the client as usual, and has it changed once it is loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The client alone, as the usual finder has it."""
        if fullname != _MODULE:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As usual."""
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """As usual, and then change it."""
        self._loader.exec_module(module)
        attach(module)


def attach(module: Any) -> None:
    """Change a loaded `ai2thor.controller`. Safe to call more than once."""
    controller = module.Controller
    if getattr(controller, "embedded_household", False):
        return
    controller.embedded_household = True
    version = getattr(sys.modules.get("ai2thor._version"), "__version__", "of an unknown number")
    os.environ[CLIENT] = version
    if version == "2.1.0":
        _attach_old(controller)
    elif version.startswith("2.7.") or version in ("4.3.0", "5.0.0"):
        _attach(controller)
    else:
        _refuse(controller, version)


def _refuse(controller: Any, version: str) -> None:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "inhabit thor works with the ai2thor client {}; this one is {}. Install one of those, "
            "such as: pip install ai2thor==5.0.0".format(VERSIONS, version)
        )

    controller.__init__ = refuse


def _attach(controller: Any) -> None:
    """Releases 2.7 to 5.0."""
    original_init, signature = controller.__init__, inspect.signature(controller.__init__)
    original_reset, original_start = controller.reset, controller.start

    @functools.wraps(original_init)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        more = dict(given.pop("unity_initialization_parameters", {}))
        if not _is_ours(given.get("local_executable_path")):
            _say_what_is_lost(signature, given, more)
            for name in _UNITYS + _MACHINES:
                more.pop(name, None)
                if name != "server_class" or not _is_servers(given.get(name)):
                    given.pop(name, None)
        if "server_timeout" in signature.parameters:
            # Given a number, the client polls the pipe of a dead simulator until the time is up.
            given.setdefault("server_timeout", None)
        original_init(**given, **more)

    @functools.wraps(original_reset)
    def reset(self: Any, *args: Any, **kwargs: Any) -> Any:
        _say_what_is_not_simulated(kwargs)
        return original_reset(self, *args, **kwargs)

    @functools.wraps(original_start)
    def start(self: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(self.server, "started", False):
            # The client would open the pipes of its old server again, which fails.
            self.stop()
            self.server = None
        kwargs.pop("start_unity", None)
        return original_start(self, *args, **kwargs)

    controller.__init__ = init
    controller.reset = reset
    controller.start = start
    controller.find_build = lambda self, *args, **kwargs: Build()
    controller.prune_releases = lambda self: None
    controller.check_x_display = lambda self, x_display: None
    _without_vulkan(controller)
    _without_downloads(sys.modules.get("ai2thor.build"))


def _without_vulkan(controller: Any) -> None:
    """CUDA_VISIBLE_DEVICES alone makes the client look for Vulkan's number of that GPU."""
    original = controller.unity_command

    @functools.wraps(original)
    def unity_command(self: Any, *args: Any, **kwargs: Any) -> Any:
        device, self.gpu_device = getattr(self, "gpu_device", None), None
        try:
            return original(self, *args, **kwargs)
        finally:
            self.gpu_device = device

    controller.unity_command = unity_command


def _without_downloads(build: Any) -> None:
    """Programs that fetch a build by `ai2thor.build` fetch nothing."""
    if hasattr(build, "Build"):
        build.Build.exists = lambda self: True
        build.Build.download = lambda self: None
        build.Build.executable_path = property(lambda self: Build().executable_path)


def _attach_old(controller: Any) -> None:
    """Release 2.1.0, whose `start` takes what others take when they are made."""
    original, signature = controller.start, inspect.signature(controller.start)

    @functools.wraps(original)
    def start(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        for name in ("start_unity", "x_display"):
            given.pop(name, None)
        if not _is_ours(self.local_executable_path):
            if self.local_executable_path is not None:
                _say("local_executable_path is ignored: no build of Unity is started.")
            self.local_executable_path = Build().executable_path
        self.docker_enabled = False
        return original(**given)

    controller.start = start
    controller.download_binary = lambda self: None
    controller.check_x_display = lambda self, x_display: None


class Platform:
    """What the client asks about the system that a build is for."""

    enabled = True

    @classmethod
    def name(cls) -> str:
        """As in messages."""
        return "Embedded"

    @classmethod
    def launch_env(cls, width: int, height: int, x_display: str) -> dict[str, str]:
        """Nothing: no display is opened."""
        return {}

    @classmethod
    def validate(cls, request: Any) -> list[str]:
        """No errors."""
        return []

    @classmethod
    def is_valid(cls, request: Any) -> bool:
        """Everywhere."""
        return True


class Build:
    """The embedded simulator with the interface of the client's builds."""

    platform = Platform
    server_types = ("FIFO", "WSGI")
    commit_id = None
    url = None

    @property
    def executable_path(self) -> str:
        """Quoted: the client splits it like a shell does."""
        return shlex.quote(os.environ[EXECUTABLE])

    def download(self) -> None:
        """Nothing."""

    def lock_sh(self) -> None:
        """Nothing."""

    def unlock(self) -> None:
        """Nothing."""


def _is_ours(path: object) -> bool:
    """Whether an executable is one that `inhabit` wrote, with options of its own."""
    try:
        with open(shlex.split(str(path))[0], "rb") as file:
            return _WRITTEN_BY_US in file.read(300)
    except (OSError, ValueError, IndexError):
        return False


def _is_servers(server_class: object) -> bool:
    fifo, wsgi = sys.modules.get("ai2thor.fifo_server"), sys.modules.get("ai2thor.wsgi_server")
    return server_class in (getattr(fifo, "FifoServer", ()), getattr(wsgi, "WsgiServer", ()))


def _say_what_is_lost(
    signature: inspect.Signature, given: Mapping[str, Any], more: Mapping[str, Any]
) -> None:
    for name in _UNITYS:
        default = signature.parameters[name].default if name in signature.parameters else None
        if given.get(name, default) != default:
            _say("{}={!r} is ignored: no build of Unity is started.".format(name, given[name]))
    if given.get("server_class") is not None and not _is_servers(given["server_class"]):
        _say("server_class is ignored: the client speaks FIFO or WSGI.")
    _say_what_is_not_simulated(more)


def _say_what_is_not_simulated(parameters: Mapping[str, Any]) -> None:
    mode = str(parameters.get("agentMode", "default")).lower()
    if mode in ("locobot", "bot"):
        _say("agentMode={!r} has the default agent's body and camera.".format(mode))
    for name in _UNDRAWN:
        if parameters.get(name):
            _say("{} is ignored: the embedded household draws no such image.".format(name))


def _say(sentence: str) -> None:
    """Print a notice, once per process."""
    if sentence not in _said:
        _said.add(sentence)
        print("inhabit thor: " + sentence, file=sys.stderr)  # noqa: T201
