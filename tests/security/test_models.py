"""Model folders as somebody who means harm would hand them on: held, or refused in a sentence."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from sampling import every

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Message, Model
from inhabit.agents.models.local.recommended import FILE, copy_recommended
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.eie.tuning.base import merge
from inhabit.eie.tuning.settings import TuneError
from inhabit.envs.marks import portable, trusting
from inhabit.episodes.playing.from_record import allowed
from inhabit.episodes.playing.plan import plan
from inhabit.episodes.playing.settings import SettingError
from tests.agents.models.local.tiny import save_llama, save_llava, save_qwen
from tests.eie.tuning.made_set import write
from tests.eie.tuning.training import train
from tests.waiting import wait_for

KEY = "sk-test-0123456789abcdef"
CPU = {"device": "cpu", "dtype": "float32"}
SECONDS = 120
CODE = """
import os, pathlib
pathlib.Path({marker!r}).write_text(" ".join(sorted(os.environ)))
from transformers import LlamaConfig, LlamaForCausalLM
class TheirConfig(LlamaConfig):
    model_type = "theirs"
class TheirModel(LlamaForCausalLM):
    config_class = TheirConfig
"""
GROWS = {"type": "Replace", "pattern": {"String": "e"}, "content": "e" * 200}
Spoil = Callable[[Path], None]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llama(tmp_path_factory.mktemp("sound") / "model")


@pytest.fixture(scope="module")
def adapters(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "adapters"
    plain = transformers.AutoModelForCausalLM.from_pretrained(sound)
    config = peft.LoraConfig(target_modules=["q_proj"], init_lora_weights=False)
    peft.get_peft_model(plain, config).save_pretrained(folder)
    return folder


@pytest.fixture
def theirs(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "theirs"))


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    def late(number: int, frame: object) -> None:
        raise TimeoutError(f"It took longer than {SECONDS} s.")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)


def opened(name: object, **said: object) -> Model:
    return load(f"local:{name}", LocalSettings.model_validate({**CPU, **said}))


def answers(model: Model) -> float:
    ranking = asyncio.run(model.rank([Message("user", ("What now?",))], ["go", "stop"]))
    asyncio.run(model.close())
    return ranking.scores[0].logprob


def change(file: Path, **said: object) -> None:
    plain = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**plain, **said}))


@pytest.mark.parametrize(
    ("env", "agent", "said"),
    [
        ("alfred", "rank", {"env": {"executable": "./evil.sh"}}),
        ("alfred", "rank", {"env": {"rooms": "/"}}),
        ("alfred", "rank", {"env": {"trajectories": "/"}}),
        ("virtualhome", "rank", {"env": {"host": "192.0.2.1"}}),
        ("virtualhome", "rank", {"env": {"port": 25}}),
        ("minedojo", "rank", {"env": {"python": "./evil"}}),
        ("minedojo", "rank", {"env": {"tasks": "/"}}),
        ("toy", "chat", {"agent": {"examples": "/"}}),
        ("toy", "rank", {"model": {"trust_remote_code": True}}),
        ("toy", "rank", {"model": {"pickles": True}}),
        ("toy", "rank", {"model": {"device": "cuda"}}),
        ("toy", "rank", {"model": {"min_pixels": 10**12}}),
    ],
)
def test_a_folder_does_not_choose_these_settings(
    env: str, agent: str, said: dict[str, dict[str, object]], tmp_path: Path
) -> None:
    ((owner, values),) = said.items()
    (name,) = values
    change(tmp_path / FILE, version=1, **said)
    again = rf"{owner}\.{name} .*--set {owner}\.{name}=\.\.\."
    with pytest.raises(ModelError, match=again):
        plan(env, agent, model=f"local:{tmp_path}")
    if owner == "env" and name not in ("host", "port"):
        mine = plan(env, agent, model=f"local:{tmp_path}", assignments=[f"{owner}.{name}=mine"])
        assert getattr(mine.settings[owner], name) == "mine"


def test_what_is_trusted_is_said_on_the_command_line_alone(tmp_path: Path) -> None:
    assert trusting(LocalSettings) == {"trust_remote_code", "pickles"}
    assert not portable(LocalSettings) & {"trust_remote_code", "pickles", "device", "device_map"}
    for trusted in (False, True):
        with pytest.raises(SettingError, match=r"--set model\.trust_remote_code=\.\.\."):
            allowed(
                {"model": {"trust_remote_code": True}},
                {"model": LocalSettings},
                where=tmp_path,
                trusted=trusted,
            )


@pytest.mark.parametrize("prompt", ["prompt.jinja", "..", ".", "../theirs.txt", "pipe"])
def test_a_prompt_is_a_file_of_the_folder(prompt: str, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.write_text("{% block system %}secret{% endblock %}")
    folder, target = tmp_path / "model", tmp_path / "mine"
    folder.mkdir()
    target.mkdir()
    (folder / "prompt.jinja").symlink_to(private)
    os.mkfifo(folder / "pipe")
    change(folder / FILE, version=1, agent={"prompt": prompt})
    with pytest.raises(ModelError, match="must be a file in the same folder"):
        plan("toy", "rank", model=f"local:{folder}")
    with pytest.raises(ModelError, match="must be a file in the same folder"):
        copy_recommended(folder, target)
    assert not list(target.iterdir())


def linked(name: str) -> Spoil:
    def spoil(folder: Path) -> None:
        shutil.move(folder / name, folder.parent / "elsewhere")
        (folder / name).symlink_to(folder.parent / "elsewhere")

    return spoil


def linked_eyes(folder: Path) -> None:
    (folder.parent / "private").mkdir()
    (folder / "eyes").symlink_to(folder.parent / "private")


def fifo(name: str) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return spoil


def of(name: str, **said: object) -> Spoil:
    return lambda folder: change(folder / name, **said)


def written(name: str, content: bytes) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return spoil


def pickled(folder: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def renamed(only: str = "") -> Spoil:
    def spoil(folder: Path) -> None:
        file = folder / "model.safetensors"
        named = load_file(file)
        there = {f"x.{name}" if only in name else name: one for name, one in named.items()}
        save_file(there, file, {"format": "pt"})

    return spoil


def index(place: str) -> Spoil:
    return of("model.safetensors.index.json", weight_map={"lm_head.weight": place}, metadata={})


REFUSED = pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (linked("config.json"), "'config.json' is a link"),
        (linked("model.safetensors"), "'model.safetensors' is a link"),
        (linked("tokenizer.json"), "'tokenizer.json' is a link"),
        (linked("chat_template.jinja"), "'chat_template.jinja' is a link"),
        (linked_eyes, "'eyes' is a link: put a folder there"),
        (fifo("config.json"), "'config.json' is a link or no regular file"),
        (fifo("model.safetensors"), "no regular file"),
        (fifo("tokenizer_config.json"), "no regular file"),
        (fifo("more\n\x1b[31m.json"), r"'more\\n\\x1b\[31m.json' is a link or no regular file"),
        (index("../../secret.safetensors"), "names weights in another folder"),
        (index("/dev/zero"), "names weights in another folder"),
        (written("model.safetensors", struct.pack("<Q", 1 << 63) + b"{}"), "can't be loaded"),
        (written("model.safetensors", b""), "can't be loaded"),
        (written("config.json", b"[" * 100_000), "'config.json': "),
        (written("config.json", b"\xff"), "'config.json': "),
        (of("config.json", num_hidden_layers=4096), "num_hidden_layers is 4096"),
        (of("config.json", rope_theta=float("inf")), "'config.json': rope_theta is inf, and"),
        (of("config.json", rms_norm_eps=float("nan")), "'config.json': rms_norm_eps is nan, and"),
        (
            of("tokenizer.json", normalizer={"type": "Sequence", "normalizers": [GROWS] * 5}),
            "makes texts up to",
        ),
        (of("config.json", num_labels=10**9), "num_labels is 1000000000"),
        (of("config.json", vocab_size=10**9), "configuration describes"),
        (of("config.json", hidden_size=10**30), "can't be loaded"),
        (of("config.json", model_type="x", auto_map={"AutoConfig": "a.B"}), "trust_remote_code="),
        (
            of("config.json", quantization_config={"modules_to_not_convert": ["(a+)+$"]}),
            "regular expression",
        ),
        (pickled, "model.pickles=true"),
        (renamed(), r"lacks 21 of its weights, such as lm_head.weight, model.embed_tokens.weight,"),
        (renamed(only="norm"), "lacks 5 of its weights, such as model.layers.0.input_layernorm"),
        pytest.param(
            written("chat_template.jinja", b"{% for a in range(9999) %}" * 9 + b"{% endfor %}" * 9),
            "The chat template of local:.*, line 1, can't be written: it takes more than 1 s",
            marks=pytest.mark.slow,
        ),
        (written("chat_template.jinja", b"{{ 'a' * 20000000000 }}"), "more than 512 MiB of memory"),
        pytest.param(
            written("chat_template.jinja", b"{{ 10 ** 10000000 }}"), "it takes more than 2 s",
            marks=pytest.mark.slow,
        ),
        (
            written("chat_template.jinja", b"{{ ('a@' * 500000)|urlize }}"),
            "writes [0-9]{7,} characters for messages of 1",
        ),
    ],
)  # fmt: skip


@REFUSED
def test_a_folder_is_refused_in_a_sentence(spoil: Spoil, says: str, theirs: Path) -> None:
    spoil(theirs)
    with pytest.raises(ModelError, match=says):
        opened(theirs)


@pytest.mark.parametrize(
    ("save", "theirs", "says"),
    [
        (save_llava, {"size": {"height": 10**7, "width": 10**7}}, "say height = 10000000"),
        (save_llava, {"size": {"shortest_edge": 10**6}}, "say shortest_edge = 1000000"),
        (save_llava, {"image_grid_pinpoints": [[10**7, 8]]}, "say image_grid_pinpoints = 10000000"),
        (save_llava, {"max_image_tiles": 10**5}, "say max_image_tiles = 100000"),
        (save_llava, {"max_pixels": 10**9}, "say max_pixels = 1000000000"),
        (save_qwen, {"size": {"shortest_edge": 10**9, "longest_edge": 10**9}}, "= 1000000000"),
    ],
)
def test_images_are_not_made_larger_than_the_memory(
    save: Callable[[Path], Path], theirs: dict[str, object], says: str, tmp_path: Path
) -> None:
    folder = save(tmp_path / "theirs")
    (file,) = (
        one
        for one in map(folder.joinpath, ("processor_config.json", "preprocessor_config.json"))
        if one.is_file()
    )
    said = json.loads(file.read_text())
    said.get("image_processor", said).update(theirs)
    file.write_text(json.dumps(said))
    with pytest.raises(ModelError, match=says):
        opened(folder)


def test_images_may_have_a_million_pixels(tmp_path: Path) -> None:
    """As Emu3 has them by default; so have the other families that count pixels."""
    folder = save_llava(tmp_path / "theirs")
    said = json.loads((folder / "processor_config.json").read_text())
    said["image_processor"]["max_pixels"] = 1 << 20
    (folder / "processor_config.json").write_text(json.dumps(said))
    opened(folder)


@pytest.mark.slow
@REFUSED
def test_it_is_neither_tuned_nor_merged(
    spoil: Spoil, says: str, theirs: Path, adapters: Path, tmp_path: Path
) -> None:
    made, out = write(tmp_path / "set", train=4, val=2), tmp_path / "out"
    spoil(theirs)
    with pytest.raises((ModelError, TuneError), match=says):
        train(made, theirs, out, epochs=0.5)
    with pytest.raises((ModelError, TuneError), match=says):
        merge(f"local:{adapters}+{theirs}", out)
    assert not list(out.rglob("*.safetensors"))


def test_a_private_folder_ends_with_a_killed_process(sound: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from inhabit.agents.models.local.folder import OpenedFolder\n"
        "it = OpenedFolder(Path(sys.argv[1])); print(it.path, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(sound)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        folder = Path(running.stdout.readline().decode().strip())
        assert (folder / "config.json").is_file()
        running.kill()
    wait_for(lambda: not folder.parent.exists())


def test_a_tokenizer_without_words_is_refused(theirs: Path) -> None:
    file = theirs / "tokenizer.json"
    change(file, model={"type": "BPE", "vocab": {"<s>": 0}, "merges": []})
    with pytest.raises(ModelError, match="its tokenizer makes no token of some words"):
        opened(theirs)


def test_what_transformers_says_of_a_folder_is_printable(
    theirs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    change(theirs / "config.json", quantization_config={"quant_method": "\x1b]0;mine\x07"})
    asyncio.run(opened(theirs).close())
    assert r"\x1b]0;mine\x07" in caplog.text
    assert "\x1b" not in caplog.text


def test_pickles_are_read_if_asked_for(sound: Path, theirs: Path) -> None:
    pickled(theirs)
    assert answers(opened(theirs, pickles=True)) == answers(opened(sound))


@pytest.mark.parametrize(
    "name",
    ["config.json", "tokenizer_config.json", "processor_config.json",
     "preprocessor_config.json", "generation_config.json"],
)  # fmt: skip
def test_code_beside_a_known_model_never_runs(name: str, tmp_path: Path) -> None:
    folder = save_llava(tmp_path / "theirs")
    marker = tmp_path / "ran"
    (folder / "evil.py").write_text(CODE.format(marker=str(marker)))
    names = ("AutoConfig", "AutoModelForCausalLM", "AutoProcessor", "AutoImageProcessor")
    change(folder / name, auto_map=dict.fromkeys(names, "evil.TheirConfig"))
    asyncio.run(opened(folder).close())
    assert not marker.exists()


def test_code_runs_if_the_user_says_so_without_keys_and_on_record(
    theirs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "ran"
    (theirs / "evil.py").write_text(CODE.format(marker=str(marker)))
    maps = {"AutoConfig": "evil.TheirConfig", "AutoModelForCausalLM": "evil.TheirModel"}
    change(theirs / "config.json", auto_map=maps, model_type="theirs")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    with pytest.raises(ModelError, match=r"--set model\.trust_remote_code=true"):
        opened(theirs)
    assert not marker.exists()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = opened(theirs, trust_remote_code=True)
    assert any("brings Python code, which runs now: 'evil.py'" in str(one.message) for one in told)
    assert "OPENAI_API_KEY" not in marker.read_text().split()
    assert "PATH" in marker.read_text().split()
    code: Any = model.details["code"]
    assert code["evil.py"].startswith("sha256:")
    answers(model)


@pytest.mark.parametrize(
    "said",
    [
        {"rank_pattern": {"(([a-z0-9_.]+)+)+!": 8}},
        {"alpha_pattern": {"(([a-z0-9_.]+)+)+!": 8}},
        {"layer_replication": [[0, 10**9]]},
        {"r": 10**9},
        {"r": 0},
        {"rank_pattern": {"q_proj": 10**9}},
        {"peft_type": "XLORA"},
        {"init_lora_weights": "pissa"},
        {"modules_to_save": ["(a+)+$"]},
        {"megatron_config": {"a": 1}},
    ],
)
def test_adapters_that_peft_would_take_are_refused(
    said: dict[str, object], sound: Path, adapters: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(adapters, tmp_path / "theirs"))
    change(folder / "adapter_config.json", **said)
    with pytest.raises(ModelError, match=r"adapter_config.json can't be read|don't fit the base"):
        opened(f"{folder}+{sound}")


@pytest.mark.parametrize(
    "said",
    [
        {"target_modules": "(([a-z0-9_.]+)+)+!"},
        {"layers_pattern": ["(([a-z0-9_.]+)+)+!"], "layers_to_transform": [0]},
        {"exclude_modules": "(([a-z0-9_.]+)+)+!"},
        {"auto_mapping": {"base_model_class": "x", "parent_library": "os"}},
    ],
)
def test_adapters_belong_where_their_weights_say(
    said: dict[str, object], sound: Path, adapters: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(adapters, tmp_path / "theirs"))
    change(folder / "adapter_config.json", **said)
    assert answers(opened(f"{folder}+{sound}")) == answers(opened(f"{adapters}+{sound}"))


@pytest.mark.parametrize("file", every(2, ["adapter_config.json", "tuned.json"]))
@pytest.mark.parametrize("base", ["somebody/model", "/etc", "..", "https://example.org/x", "~"])
def test_a_base_is_the_users_word(
    file: str, base: str, sound: Path, adapters: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(adapters, tmp_path / "theirs"))
    name = {"tuned.json": "base", "adapter_config.json": "base_model_name_or_path"}[file]
    change(folder / file, **{name: f"local:{base}" if file == "tuned.json" else base})
    for use in (
        lambda: opened(folder),
        lambda: plan("toy", "rank", model=f"local:{folder}"),
        lambda: merge(f"local:{folder}", tmp_path / "merged"),
    ):
        with pytest.raises(ModelError, match=r"does not choose what else is loaded: say it"):
            use()
    assert answers(opened(f"{folder}+{sound}")) == answers(opened(f"{adapters}+{sound}"))


def test_a_merged_model_has_nothing_of_theirs_but_weights_and_words(
    adapters: Path, theirs: Path, tmp_path: Path
) -> None:
    evil = [{"name": "default", "template": "{{ messages[0]['content'] }}"},
            {"name": "../../../escaped", "template": "x"}]  # fmt: skip
    (theirs / "chat_template.jinja").unlink()
    change(theirs / "tokenizer_config.json", chat_template=evil, auto_map={"AutoTokenizer": "a.B"})
    change(theirs / "config.json", auto_map={"AutoConfig": "a.B"}, transformers_weights="../x.bin")
    merge(f"local:{adapters}+{theirs}", tmp_path / "a" / "b" / "merged")
    written = {file.name for file in tmp_path.rglob("*") if "theirs" not in file.parts}
    assert not {name for name in written if "escaped" in name or name.endswith(".py")}
    assert "auto_map" not in (tmp_path / "a/b/merged/config.json").read_text()


def test_a_hubs_cache_may_link_to_its_own_files(sound: Path, tmp_path: Path) -> None:
    hub = tmp_path / "models--somebody--model"
    (hub / "blobs").mkdir(parents=True)
    folder = hub / "snapshots" / "abc"
    folder.mkdir(parents=True)
    for number, file in enumerate(sorted(sound.iterdir())):
        shutil.copyfile(file, hub / "blobs" / str(number))
        (folder / file.name).symlink_to(Path("../../blobs") / str(number))
    assert answers(opened(folder)) == answers(opened(sound))
