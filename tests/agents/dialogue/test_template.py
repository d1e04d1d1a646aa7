"""A user's own prompt: taken where it has blocks, harmless, and wrong in a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inhabit.agents.core import ModelError, RequestError, Step
from inhabit.agents.dialogue.template import PromptTemplate, TemplateError, renderer, source, told
from inhabit.agents.models.scripted import Script, ScriptedModel
from inhabit.agents.registry import find
from inhabit.cli import main
from inhabit.envs.core import Observation
from tests.agents.models.local.tiny import tokenizer
from tests.agents.planners.test_chat import TEXTS, Heard, answer, decide, make
from tests.agents.views import view


def own(folder: Path, text: str) -> Path:
    file = folder / "own.jinja"
    file.write_text(text)
    return file


def test_a_block_of_ones_own_replaces_the_packages(tmp_path: Path) -> None:
    file = own(tmp_path, "{% block past %}Do this: {{ goal | line }}{% endblock %}")
    model = Heard(answer("go to the sink"))
    decide(make("chat", model, image=False, prompt=file), view(*TEXTS, goal="G\n- x"))
    assert model.told().startswith("Do this: G - x\nWhat you can do now:\n- open the drawer")


def test_what_is_printed_is_the_prompt_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for name in ("chat", "rank", "holmes"):
        with pytest.raises(SystemExit) as left:
            main(["agents", name, "--prompt"])
        assert left.value.code == 0
        file = own(tmp_path, capsys.readouterr().out)
        if name == "chat":
            for prompt in (None, file):
                model = Heard(answer("go to the sink"))
                decide(make("chat", model, image=False, prompt=prompt), view(*TEXTS))
                told.append([m.parts for m in model.prompts[0]])
        PromptTemplate(find(name).templates[0], file)
    assert told[0] == told[1]
    with pytest.raises(SystemExit) as left:
        main(["agents", "random", "--prompt"])
    assert left.value.code == 2
    assert "have a prompt to print: rank, beam, chat" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{% block past %}{{ goal }", "line 1"),
        ("{% block pas %}{% endblock %}", "'pas', which is unknown; blocks are: after"),
        ("nothing", "has no block"),
    ],
)
def test_a_prompt_that_is_wrong_is_a_sentence(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(RequestError, match=says):
        PromptTemplate("moment", own(tmp_path, text))


@pytest.mark.parametrize(
    "evil",
    [
        "{{ step.action.__class__.__mro__ }}",
        "{{ step.__init__.__globals__ }}",
        "{{ step.rgb.tofile('stolen') }}",
        "{% include '/etc/passwd' %}",
        "{{ step.update(a=1) }}",
        "{{ unknown }}",
        "{{ 1 // 0 }}",
    ],
)
def test_a_template_reaches_nothing_but_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evil: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = own(tmp_path, "{% block step %}" + evil + "{% endblock %}")
    moment = view(*TEXTS, history=[Step("go", None, "Done.", np.zeros((2, 2, 3), np.uint8))])
    with pytest.raises(
        ModelError, match=r"The block 'step' of the prompt .*, line 1, can't"
    ) as told:
        decide(make("chat", Heard(answer("stop")), image=False, prompt=file), moment)
    assert "It may use: " in str(told.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["own.jinja"]


@pytest.mark.parametrize(
    ("evil", "cause"),
    [
        ("{{ 'a' * 10**9 }}", "line 2, can't be written: it takes more than 512 MiB of memory"),
        ("{{ 'a' | indent(10**9) }}", "line 2, can't be written: it takes more than 512 MiB"),
        (
            "{{ '%9999999999d' | format(1) }}",
            "line 2, can't be written: it takes more than 512 MiB",
        ),
        ("{{ 'a'.ljust(10**10) }}", "line 2, can't be written: it takes more than 512 MiB"),
        ("{{ 'a' * 10**7 }}", "can't be written: its text has more than 4,194,304 characters"),
        ("{{ 10 ** 10000000 }}", "it takes more than 2 s"),
        pytest.param(
            "{{ lipsum(n=10**9) }}",
            "line 2, can't be written: it takes more than 1 s",
            marks=pytest.mark.slow,
        ),
        (
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
            "line 2, can't be written: it takes more than 1 s",
        ),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "calls itself without end"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "nested too deeply"),
    ],
)
def test_a_template_without_end_is_a_fault_of_its_prompt(
    tmp_path: Path, evil: str, cause: str
) -> None:
    file = own(tmp_path, "{% block past %}\n" + evil + "{% endblock %}")
    with pytest.raises((ModelError, RequestError), match=cause):
        decide(make("chat", Heard(answer("stop")), image=False, prompt=file), view(*TEXTS))
    sound = own(tmp_path, "{% block past %}{{ goal }}{% endblock %}")
    model = Heard(answer("go to the sink"))
    decide(make("chat", model, image=False, prompt=sound), view(*TEXTS, goal="G"))
    assert model.told().startswith("G\n")


def test_a_renderer_that_was_ended_leaves_no_files_open() -> None:
    files = []
    for _ in range(2):
        with pytest.raises(TemplateError, match="more than 2 s"):
            renderer().text("chat", "{{ 10 ** 10000000 }}", {}, name="It")
        files.append(len([*Path("/proc/self/fd").iterdir()]))
    assert files[0] == files[1]


def test_a_whole_prompt_of_ones_own_is_equal_to_the_byte(tmp_path: Path) -> None:
    steps = [told(Step(f"go\ud800 {i}", None, "Done.\n<b>")) for i in range(3)]
    values = {"goal": "g\nx", "choices": steps, "observation": steps[0]}
    shown = (
        "{% block now %}{{ choices }}{{ (1, [goal]) }}{{ choices[0].reason is none }}{% endblock %}"
    )
    mine = PromptTemplate("rank", own(tmp_path, shown))
    assert mine.block("now", **values) == f"{steps}{(1, ['g' + chr(10) + 'x'])}True"
    values |= {"choices": ["a", "b\ud800"], "observation": Observation("here", None)}
    package = PromptTemplate("rank", own(tmp_path, source("rank")))
    assert package.block("now", **values) == PromptTemplate("rank").block("now", **values)


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in messages %}{{ loop.index }}{{ bos_token }}{{ m | tojson }}{% endfor %}",
        "{%- for m in messages -%}\n {% generation %}{{ m['content'] }}{% endgeneration %}\n"
        "{% endfor %}",
        "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}"
        "{% if ns.n > 1 %}{% break %}{% endif %}{{ m.role }}{{ nothing }}{% endfor %}{{ ns.n }}",
        "{{ strftime_now('%Y') }}{{ add_generation_prompt }}{{ tools is none }}{{ dict(a=1) }}",
    ],
)
def test_chat_templates_are_rendered_as_transformers_does(template: str) -> None:
    words = tokenizer(template)
    turns = [{"role": "system", "content": "Act. é\u2028"}, {"role": "user", "content": "<b>\n"}]
    want = words.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    given = {"messages": turns, "tools": None, "documents": None, "add_generation_prompt": True}
    values = {**given, **words.special_tokens_map}
    assert renderer().text("chat", template, values, name="it") == want


def test_rank_takes_a_prompt_of_ones_own(tmp_path: Path) -> None:
    file = own(tmp_path, "{% block system %}Act.{% endblock %}")
    model = ScriptedModel(Script(default=-1.0))
    decision = decide(make("rank", model, prompt=file), view(*TEXTS))
    assert decision.calls[0].messages[0]["content"] == [{"text": "Act."}]


def test_the_packages_templates_are_whole() -> None:
    assert "{% block system %}" in source("chat")
