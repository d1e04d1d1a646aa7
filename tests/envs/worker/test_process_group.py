"""A process group whose owner forgets to close it."""

from __future__ import annotations

import gc

import psutil

from inhabit.envs.host.process_group import ProcessGroup


def test_a_killed_group_that_is_never_closed_leaves_no_folder() -> None:
    group = ProcessGroup("inhabit-test-")
    folder, watch = group.folder, group.id
    group.kill()
    assert folder.exists() and not psutil.pid_exists(watch)
    del group
    gc.collect()
    assert not folder.exists()
