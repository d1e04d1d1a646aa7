"""Luanti's configuration: settings, world and environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from inhabit.envs.minedojo.luanti.framebuffer import BAR
from inhabit.envs.minedojo.luanti.game import NAME

FOV = 70
"""Vertical field of view in degrees, before Luanti widens that of narrow windows."""
_FIXED = """\
secure.enable_security = true
secure.trusted_mods = inhabit
fullscreen = false
window_maximized = false
vsync = false
fps_max = 60
fps_max_unfocused = 60
enable_sound = false
mute_sound = true
video_driver = opengl
smooth_lighting = true
enable_shaders = false
enable_clouds = false
enable_particles = false
fog_start = 0.5
mg_name = singlenode
dedicated_server_step = 0.001
time_speed = 0
pause_on_lost_focus = false
pause_fps_max = 60
show_debug = false
console_height = 0.01
name = singleplayer
enable_client_modding = false
serverlist_url =
bind_address = 127.0.0.1
enable_ipv6 = false
screensaver_disabled = true
creative_mode = false
enable_damage = false
chat_log_level = none
recent_chat_messages = 2
view_bobbing_amount = 0
arm_inertia = false
disable_anticheat = true
autojump = false
tooltip_show_delay = 100000
crosshair_color = (255,255,255)
max_simultaneous_block_sends_per_client = 2000
full_block_send_enable_min_time_from_building = 0
block_send_optimize_distance = 6
max_block_send_distance = 4
max_block_generate_distance = 1
active_block_range = 1
active_object_send_range_blocks = 6
server_unload_unused_data_timeout = 1000000
client_unload_unused_data_timeout = 1000000
client_mesh_chunk = 1
num_emerge_threads = 1
map_compression_level_disk = 0
server_map_save_interval = 1000000
liquid_update = 1000000
abm_interval = 1000000
nodetimer_interval = 1000000
hud_scaling = 1
gui_scaling = 1
display_density_factor = 1
"""
_WORLD = """\
gameid = inhabit
backend = dummy
player_backend = sqlite3
auth_backend = sqlite3
mod_storage_backend = sqlite3
enable_damage = false
creative_mode = false
"""


def write(home: Path, width: int, height: int, answers: int, fov: int, far: int) -> list[str]:
    """Write Luanti's files and return its arguments.

    Args:
        home: a folder for this process only.
        width: of the image, in pixels.
        height: likewise.
        answers: the descriptor of the pipe that the mod writes.
        fov: degrees, of the image's height.
        far: viewing range, blocks.

    Returns:
        its arguments.
    """
    world = home / "worlds" / "world"
    world.mkdir(parents=True)
    (world / "world.mt").write_text(_WORLD, "utf-8")
    settings = {
        "screen_w": width, "screen_h": height + 2 * BAR, "inhabit_answers": answers,
        "inhabit_bar": BAR, "inhabit_width": width, "fov": fov, "viewing_range": far,
    }  # fmt: skip
    lines = "".join(f"{key} = {value}\n" for key, value in settings.items())
    config = home / "luanti.conf"
    config.write_text(_FIXED + lines, "utf-8")
    return ["--go", "--world", str(world), "--gameid", NAME, "--config", str(config),
            "--logfile", str(home / "luanti.log")]  # fmt: skip


def surroundings(home: Path, screen: str, cookie: Path) -> Mapping[str, str]:
    """Luanti's environment variables: its own home directory, software GL on one core."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "TMPDIR")}
    return kept | {
        "HOME": str(home),
        "MINETEST_USER_PATH": str(home),
        "LUANTI_USER_PATH": str(home),
        "MINETEST_SUBGAME_PATH": str(home / "games"),
        "LUANTI_GAME_PATH": str(home / "games"),
        "DISPLAY": screen,
        "XAUTHORITY": str(cookie),
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "LP_NUM_THREADS": "1",
        "XDG_RUNTIME_DIR": str(home),
        "SDL_VIDEODRIVER": "x11",
    }
