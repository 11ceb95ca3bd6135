"""Lesson 15: labels and means, each beside what `Trainer` and TRL do, and the experiments beside loops by hand."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from course_lib.experiments import scored_tokens as experiments
from course_lib.foundation import AttentionModel
from course_lib.next_token_shifting import next_token_loss
from course_lib.scored_tokens import (
    answer_start,
    audit_chat_template,
    evaluation_loss,
    mean_loss,
    stop_rate,
    target_weights,
    turn_labels,
)

TEMPLATE = """{%- for message in messages -%}{{ message.role + ":" }}{%- if message.role == "assistant" -%}
{% generation %}{{ " " + message.content + eos_token }}{% endgeneration %}{%- else -%}
{{ " " + message.content + eos_token }}{%- endif -%}{%- endfor -%}
{%- if add_generation_prompt -%}{{ "assistant:" }}{%- endif -%}"""
MARKS = "{% generation %}", "{% endgeneration %}"
CHAT = [{"role": role, "content": f"low {role} lowest"} for role in ("system", "user", "assistant") * 2]
PROMPT = {"prompt": CHAT[:-1], "completion": CHAT[-1:]}


@pytest.fixture(scope="module")
def wrapped():
    return experiments.chat_tokenizer(CHAT, TEMPLATE)


# turn_labels


def turns_of(tokenizer) -> tuple[list[str], list[list[int]]]:
    """The conversation in pieces: what the template writes before an answer is nobody's turn."""
    roles, turns = [], []
    for message in CHAT:
        header, text = f"{message['role']}:", f" {message['content']}{tokenizer.eos_token}"
        roles += ["template", message["role"]] if message["role"] == "assistant" else [message["role"]]
        turns += [header, text] if message["role"] == "assistant" else [header + text]
    return roles, [tokenizer(turn)["input_ids"] for turn in turns]


@pytest.mark.parametrize(
    ("which", "row", "options"),
    [
        ("everything", {"messages": CHAT}, {}),
        ("everything", {"messages": CHAT}, {"completion_only_loss": True}),
        ("answers", {"messages": CHAT}, {"assistant_only_loss": True}),
        ("last answer", PROMPT, {}),
    ],
)
def test_labels_of_turns_are_those_of_trl(wrapped, which, row, options):
    roles, turns = turns_of(wrapped)
    labels = turn_labels(roles, turns, which)
    ((ids, theirs),) = experiments.rows_of_trl([row], wrapped, **options)
    assert ids == [*itertools.chain(*turns)]
    assert labels[1:] == theirs[1:]  # the label at place 0 is never predicted
    assert labels[0] == -100


@pytest.mark.parametrize("form", [np.array, torch.tensor, tuple])
def test_turns_may_be_arrays(form):
    turns = [form([1, 2, 3]), form([4, 5, 6])]
    assert turn_labels(["user", "assistant"], turns) == [-100, -100, -100, 4, 5, 6]


def test_a_conversation_without_an_answer_scores_nothing():
    for which in ("answers", "last answer"):
        assert turn_labels(["user"], [[1, 2]], which) == [-100, -100]
    assert turn_labels(["user"], [[1, 2]], "everything") == [-100, 2]


@pytest.mark.parametrize(
    ("roles", "turns"), [([], []), (["user"], [[]]), (["user"], [[1], [2]]), (["user"] * 2, [[1]])]
)
def test_turns_must_fit_their_roles(roles, turns):
    with pytest.raises(
        ValueError, match=r"^turns must be a list of ids for each of \d roles, not all of them empty, got"
    ):
        turn_labels(roles, turns)


# answer_start


@given(st.lists(st.integers(0, 2), max_size=5), st.lists(st.integers(0, 2), max_size=5))
def test_an_answer_begins_where_trl_splits(prompt, ids):
    from trl.data_utils import common_prefix_length

    assert answer_start(prompt, ids) == common_prefix_length(prompt, ids)


@pytest.mark.parametrize(("prompt", "completion"), [("low user", " lowest"), ("low user ", "lowest")])
def test_labels_of_a_prompt_are_those_of_trl(wrapped, prompt, completion):
    ((ids, labels),) = experiments.rows_of_trl([{"prompt": prompt, "completion": completion}], wrapped)
    start = answer_start(wrapped(prompt)["input_ids"], ids)
    assert labels == [-100] * start + ids[start:]
    assert start == 2  # although the second prompt has three tokens


# mean_loss, target_weights


def random_batch(seed: int, rows: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids, and labels that score about half of them, some rows not at all."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(32, (rows, length), generator=generator)
    scored = torch.rand(rows, length, generator=generator) < torch.rand(rows, 1, generator=generator) - 0.1
    return ids, ids.masked_fill(~scored, -100)


def losses_of(model, ids, labels):
    return F.cross_entropy(
        model(ids).logits[:, :-1].transpose(1, 2), labels[:, 1:], reduction="none", ignore_index=-100
    )


@pytest.mark.parametrize("seed", range(4))
def test_means_are_those_of_models_in_transformers(seed):
    """The model's own loss is the token mean; of one row at a time, averaged, the example mean; of parts, the third."""
    model = experiments.tiny_llama(32)
    ids, labels = random_batch(seed, 6, 7)
    losses = losses_of(model, ids, labels)
    torch.testing.assert_close(mean_loss(losses, labels), model(ids, labels=labels).loss)
    torch.testing.assert_close(mean_loss(losses, labels), next_token_loss(model(ids).logits[:, :-1], labels[:, 1:]))
    for per, size in (("example", 1), (1, 1), (4, 4), (6, 6), (100, 100)):
        parts = zip(ids.split(size), labels.split(size), strict=True)
        theirs = torch.stack([model(i, labels=part).loss for i, part in parts])
        torch.testing.assert_close(mean_loss(losses, labels, per), theirs[theirs.isfinite()].mean())


def test_a_batch_without_targets_has_no_mean():
    model, labels = experiments.tiny_llama(32), torch.full((2, 3), -100)
    ids = torch.zeros(2, 3, dtype=torch.int64)
    assert model(ids, labels=labels).loss.isnan()
    assert mean_loss(losses_of(model, ids, labels), labels).isnan()
    assert not target_weights(labels).any()


@pytest.mark.parametrize("per", ["token", "example", 1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_the_gradient_of_the_mean(per, seed):
    _, labels = random_batch(seed, 6, 7)
    losses = torch.rand(6, 6, dtype=torch.float64, requires_grad=True)
    mean_loss(losses, labels, per).backward()
    weights = target_weights(labels, per)
    torch.testing.assert_close(weights[:, 1:], losses.grad)
    assert not weights[:, 0].any()
    assert weights.sum().item() == pytest.approx(1)


@pytest.mark.parametrize(
    "function",
    [lambda per: mean_loss(torch.ones(2, 2), torch.ones(2, 3), per), lambda per: target_weights(torch.ones(2, 3), per)],
)
@pytest.mark.parametrize("per", [0, -1, "tokens"])
def test_a_part_has_rows(function, per):
    with pytest.raises(ValueError, match=r"^per must be"):
        function(per)


@pytest.mark.parametrize("shape", [(3,), (2, 1), (1, 3), (2, 4)])
def test_losses_of_another_shape_have_no_mean(shape):
    labels = torch.tensor([[1, 2, 3, 4], [1, -100, 3, 4]])
    with pytest.raises(ValueError, match=r"^losses must have shape \(2, 3\)"):
        mean_loss(torch.ones(shape), labels)


# evaluation_loss: what `Trainer` and `SFTTrainer` report


@pytest.mark.parametrize("batch_size", [1, 3, 4, 7])
def test_an_evaluation_is_that_of_trainer(batch_size, tmp_path):
    from transformers import DataCollatorForSeq2Seq, Trainer, TrainingArguments
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    model = experiments.tiny_llama(32).eval()
    rows, sums, counts = [], [], []
    for length in (1, 9, 2, 14, 1, 3, 20):  # the last batch may be smaller
        ids = torch.arange(3 + length) * length % 32
        labels = ids.masked_fill(torch.arange(3 + length) < 3, -100)
        rows.append({"input_ids": ids.tolist(), "labels": labels.tolist()})
        sums.append(losses_of(model, ids[None], labels[None]).sum().item())
        counts.append(length)
    ours = evaluation_loss(sums, counts, batch_size)
    quiet = {"output_dir": str(tmp_path), "report_to": [], "use_cpu": True, "disable_tqdm": True}
    args = TrainingArguments(per_device_eval_batch_size=batch_size, **quiet)
    pad = experiments.chat_tokenizer(CHAT, TEMPLATE)
    for collate in (DataCollatorForSeq2Seq(pad), DataCollatorForLanguageModeling(pad_token_id=1)):
        trainer = Trainer(model=model, args=args, eval_dataset=rows, data_collator=collate)
        assert trainer.evaluate()["eval_loss"] == pytest.approx(ours, abs=1e-5)


def test_an_evaluation_in_one_batch_is_the_token_mean():
    assert evaluation_loss([2.0, 12.0], [1, 6], 2) == 2.0
    assert evaluation_loss([2.0, 12.0], [1, 12], 2) == pytest.approx(14 / 13)
    assert evaluation_loss([2.0, 12.0], [1, 12], 1) == 1.5
    assert evaluation_loss([2.0, 12.0, 3.0], [1, 12, 1], 2) == pytest.approx((2 * 14 / 13 + 3) / 3)


@pytest.mark.parametrize(("sums", "counts"), [([], []), ([1.0], [0]), ([1.0, 2.0], [1]), ([1.0], [1, 2])])
def test_each_example_of_an_evaluation_has_targets(sums, counts):
    with pytest.raises(ValueError, match=r"^counts must be a number of targets"):
        evaluation_loss(sums, counts, 2)


def test_what_has_no_mean_is_refused():
    with pytest.raises(ValueError, match=r"^answers must not be empty"):
        stop_rate([], 0)
    with pytest.raises(ValueError, match=r"^labels must have shape"):
        target_weights(torch.tensor([1, 2]))


def test_answers_that_end_are_counted():
    assert stop_rate([[5, 0], [5, 6], [0]], 0) == pytest.approx(2 / 3)
    assert stop_rate([[5]], 0) == 0


# audit_chat_template


ANSWER = '{% generation %}{{ " " + message.content + eos_token }}{% endgeneration %}'
OTHER = '{{ " " + message.content + eos_token }}{%- endif -%}'
HEADER = '{{ message.role + ":" }}'
END_OUTSIDE = ANSWER, '{% generation %}{{ " " + message.content }}{% endgeneration %}{{ eos_token }}'
TEMPLATES = {
    "right": ((), [True] * 5),
    "end outside the marks": ([END_OUTSIDE], [True, True, True, True, False]),
    "earlier answers change": (
        [(ANSWER, ANSWER.replace("message.content", "(message.content if loop.last else 'low')"))],
        [True, False, True, False, True],
    ),
    "earlier headers change": (  # so a prompt isn't what its answer follows in training
        [(HEADER, "{{ messages | length }}" + HEADER)],
        [True, False, False, False, True],
    ),
    "the ends alone": (
        [(ANSWER, "{{ message.content }}{% generation %}{{ eos_token }}{% endgeneration %}")],
        [True, True, True, False, True],
    ),
    "what users say, too": (
        [(OTHER, '{% generation %}{{ " " + message.content }}{% endgeneration %}{{ eos_token }}{%- endif -%}')],
        [True, True, True, False, True],
    ),
    "the header, too": (
        [(HEADER, ""), (ANSWER, ANSWER.replace('" "', '"assistant: "')), (OTHER, HEADER + OTHER)],
        [True, True, True, False, True],
    ),
    "the users' ends for the answers'": (
        [END_OUTSIDE, (OTHER, ANSWER + "{%- endif -%}")],
        [True, True, True, False, True],  # as many ends as there should be, so only the fourth test finds it
    ),
    "half of each answer": ([(ANSWER, "{{ ' low' }}" + ANSWER)], [True, True, True, False, True]),
    "a space after the prompt": ([('"assistant:"', '"assistant: "')], [True, True, False, True, True]),
    "a thought in the prompt that no row has": (
        [('"assistant:"', '"assistant: lowest"')],
        [True, True, False, True, True],
    ),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_labels_of_a_chat_template_are_trusted_after_five_tests(wrapped, name):
    template, (changes, passed) = TEMPLATE, TEMPLATES[name]
    for old, new in changes:
        assert template.count(old) == 1
        template = template.replace(old, new)
    chat = [turn for turn in CHAT if turn["role"] != "system"]
    assert list(audit_chat_template(wrapped, chat, template).values()) == passed


@pytest.mark.parametrize("content", ["<b>low</b>", "42", "(low)"])
def test_a_space_that_the_model_has_to_write_is_scored(content):
    """Before a word, it's a part of the word's token. Before anything else, it may be a token of its own."""
    chat = [CHAT[1], {"role": "assistant", "content": content}] * 2
    tokenizer = experiments.chat_tokenizer(CHAT, TEMPLATE)
    assert all(audit_chat_template(tokenizer, chat).values())
    outside = TEMPLATE.replace(HEADER, HEADER.replace(":", ": ")).replace('" " + ', "")
    texts = {tokenizer.apply_chat_template(chat, chat_template=each, tokenize=False) for each in (TEMPLATE, outside)}
    assert len(texts) == 1
    assert list(audit_chat_template(tokenizer, chat, outside).values()) == [True, True, True, False, True]
    assert all(audit_chat_template(tokenizer, CHAT, outside).values())  # these answers begin with words


@pytest.mark.parametrize("after", ["", "\n"])
def test_a_turn_may_end_with_another_token_than_a_text(after):
    """As with Qwen's base models, whose chats end turns with <|im_end|>, and whose `eos_token` is another."""
    ends = TEMPLATE.replace("eos_token", f'"<|im_end|>{after}"')
    tokenizer = experiments.chat_tokenizer(CHAT, ends)
    assert not audit_chat_template(tokenizer, CHAT)["the end of each answer is scored"]  # it isn't a token yet
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_end|>"]})
    assert all(audit_chat_template(tokenizer, CHAT).values())
    outside = ends.replace(f'message.content + "<|im_end|>{after}" }}}}{{% end', "message.content }}{% end")
    outside = outside.replace("{% endgeneration %}", f'{{% endgeneration %}}{{{{ "<|im_end|>{after}" }}}}')
    assert list(audit_chat_template(tokenizer, CHAT, outside).values()) == [True, True, True, True, False]


@pytest.mark.parametrize(("prompt", "exact"), [("assistant:", True), ("assistant: <think></think>", False)])
def test_what_the_generation_prompt_writes_is_not_the_models_to_write(prompt, exact):
    template = TEMPLATE.replace('{{ " " +', '{{ " <think></think>" +', 1)
    template = template.replace('"assistant:" }}', f'"{prompt}" }}}}')
    tokenizer = experiments.chat_tokenizer(CHAT, template)
    tokenizer.add_tokens(["<think>", "</think>"])
    assert list(audit_chat_template(tokenizer, CHAT).values()) == [True, True, True, exact, True]


@pytest.mark.parametrize("name", ["qwen2_5", "qwen3", "llama3", "phi3", "phi3_5", "deepseekv3"])
def test_an_audit_agrees_with_trl_about_its_own_templates(name):
    from trl import chat_template_utils

    template = (Path(chat_template_utils.__file__).parent / "chat_templates" / f"{name}_training.jinja").read_text(
        "utf-8"
    )
    tokenizer = experiments.chat_tokenizer(CHAT, template)
    ends = ["<|im_end|>", "<|eot_id|>", "<|end|>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>"]
    tokenizer.add_special_tokens({"additional_special_tokens": ends})
    found = audit_chat_template(tokenizer, CHAT[1:3] * 2)
    assert found["answered turns stay as they were"]
    # Phi-3's writes one more end after the last turn. TRL counts that as a change, and we don't.
    assert chat_template_utils.is_chat_template_prefix_preserving(tokenizer) == ("phi3" not in name)
    assert found["the end of each answer is scored"] == chat_template_utils.is_chat_template_stop_token_trained(
        tokenizer
    )
    # DeepSeek's prompt ends with "<think>\n", which the row of an answer without a thought hasn't
    assert found["rows begin with their prompts"] == ("deepseek" not in name)
    # DeepSeek's begins an answer with a token that its generation prompt writes, too
    assert found["exactly the answers are scored"] == ("deepseek" not in name)


def test_a_template_may_refuse_a_system_prompt_alone(wrapped):
    """As Qwen3.5's does: "No user query found in messages"."""
    refuses = '{%- if messages | length < 2 -%}{{ raise_exception("No user query") }}{%- endif -%}' + TEMPLATE
    assert all(audit_chat_template(wrapped, CHAT, refuses).values())


@pytest.mark.parametrize("breaks", ["", "\n\n"])
def test_an_answer_may_be_empty(wrapped, breaks):
    """As where a template leaves out a tool call. Its header may end with line breaks, as Llama 3's does."""
    template = TEMPLATE.replace('" " + ', "").replace('":" }}', f'":{breaks}" }}}}')
    template = template.replace("assistant:", f"assistant:{breaks}")
    chat = [{**turn, "content": "" if turn["role"] == "assistant" else "low"} for turn in CHAT]
    assert all(audit_chat_template(wrapped, chat, template).values())


def test_a_template_without_marks_scores_nothing():
    wrapped = experiments.chat_tokenizer(CHAT, TEMPLATE)
    template = TEMPLATE.replace(MARKS[0], "").replace(MARKS[1], "")
    assert list(audit_chat_template(wrapped, CHAT, template).values()) == [False, True, True, False, False]
    wrapped.chat_template = template
    assert not audit_chat_template(wrapped, CHAT)["something is scored"]
    with pytest.raises(ValueError, match="not training-compatible"):  # TRL refuses it
        experiments.rows_of_trl([{"messages": CHAT}], wrapped, assistant_only_loss=True)


@pytest.mark.parametrize("messages", [[], CHAT[:2], CHAT[2:], ["low"], [{"content": "low"}], "low", 3, -1.5, CHAT[2]])
def test_a_chat_template_is_audited_with_an_answer(wrapped, messages):
    words = r"^messages must be a list of mappings with a role, the assistant's among them, but not as the first, got"
    with pytest.raises(ValueError, match=words):
        audit_chat_template(wrapped, messages, TEMPLATE)


def test_a_chat_template_needs_a_tokenizer_of_transformers():
    with pytest.raises(TypeError, match=r"^tokenizer must be one of transformers"):
        audit_chat_template(object(), CHAT)


# What the lesson says that the libraries do


def test_a_collator_of_transformers_throws_labels_away_and_others_keep_them(wrapped):
    from transformers import DataCollatorForLanguageModeling, DataCollatorForSeq2Seq
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling as CollatorOfTRL

    rows = [{"input_ids": [5, 6, 7, 0], "labels": [-100, -100, 7, 0]} for _ in range(2)]
    lost = DataCollatorForLanguageModeling(wrapped, mlm=False)(rows)["labels"]
    assert lost.tolist() == [[5, 6, 7, 0]] * 2
    longer = [*rows, {"input_ids": [5, 6, 7, 8, 0], "labels": [-100, -100, 7, 8, 0]}]
    with pytest.raises(ValueError, match="Unable to create tensor"):
        DataCollatorForLanguageModeling(wrapped, mlm=False)(longer)
    for collate in (DataCollatorForSeq2Seq(wrapped), CollatorOfTRL(pad_token_id=1)):
        assert collate(rows)["labels"].tolist() == [[-100, -100, 7, 0]] * 2


def test_trainer_logs_0_for_a_row_in_which_nothing_is_scored():
    nothing = [([5, 6, 7], [-100] * 3)]
    (log,) = experiments.trainer_logs(nothing)
    assert (log["loss"], log["grad_norm"]) == (0, 0)
    (log,) = experiments.trainer_logs(nothing, logging_nan_inf_filter=False)
    assert np.isnan(log["loss"])


def test_trl_cuts_the_end_and_drops_rows_without_targets(wrapped):
    row = {"prompt": "low user", "completion": " lowest low"}
    texts = {
        length: [
            experiments.scored_text(*made, wrapped)
            for made in experiments.rows_of_trl([row], wrapped, max_length=length)
        ]
        for length in (9, 4, 2)
    }
    assert texts == {9: ["(low user) lowest low<|end|>"], 4: ["(low user) lowest low"], 2: []}


def steps_of(tmp_path, kind, rows, batch_size: int, model=None) -> tuple[float, torch.Tensor]:
    """The loss that is logged, and the weights, after one step over all rows, in parts of `batch_size`."""
    from transformers import DataCollatorForSeq2Seq, PrinterCallback, TrainingArguments

    model = model or experiments.tiny_llama()
    quiet = {"output_dir": str(tmp_path), "report_to": [], "use_cpu": True, "disable_tqdm": True, "save_strategy": "no"}
    args = TrainingArguments(
        per_device_train_batch_size=batch_size,
        gradient_accumulation_steps=len(rows) // batch_size,
        max_steps=1,
        logging_steps=1,
        optim="sgd",
        max_grad_norm=0,
        **quiet,
    )
    collate = DataCollatorForSeq2Seq(experiments.chat_tokenizer(CHAT, TEMPLATE))
    trainer = kind(model=model, args=args, train_dataset=rows, data_collator=collate)
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    weights = torch.cat([weight.detach().flatten() for weight in model.parameters()])
    return trainer.state.log_history[0]["loss"], weights


def test_accumulation_gives_one_step_unless_the_loss_drops_the_count(tmp_path):
    from transformers import Trainer

    class DropsTheCount(Trainer):
        def compute_loss(self, model, inputs, return_outputs=False, **_):
            outputs = model(**inputs)
            return (outputs.loss, outputs) if return_outputs else outputs.loss

    rows = []
    for length in (1, 9, 2, 14, 1, 3, 20, 2):
        ids = list(range(4, 8 + length))
        rows.append({"input_ids": ids, "labels": [-100] * 4 + ids[4:]})
    whole_loss, whole = steps_of(tmp_path, Trainer, rows, 8)
    for size in (1, 2):
        loss, weights = steps_of(tmp_path, Trainer, rows, size)
        assert loss == pytest.approx(whole_loss, rel=1e-4)
        torch.testing.assert_close(weights, whole)
    loss, _ = steps_of(tmp_path, DropsTheCount, rows, 1)
    assert 6 < loss / whole_loss < 10  # eight means, added up


def test_a_model_may_take_the_count_and_ignore_it(tmp_path):
    """`Trainer` only looks whether `forward` takes `**kwargs`, and then leaves the division to the model."""
    from transformers import BartConfig, BartForCausalLM, Trainer

    sizes = {"d_model": 8, "decoder_layers": 1, "decoder_ffn_dim": 8, "decoder_attention_heads": 1}
    rows = [{"input_ids": [4, 5, 6, row], "labels": [4, 5, 6, row]} for row in range(7, 11)]
    losses = []
    for size in (4, 1):
        torch.manual_seed(0)
        bart = BartForCausalLM(BartConfig(vocab_size=64, dropout=0.0, **sizes))
        losses.append(steps_of(tmp_path, Trainer, rows, size, bart)[0])
    assert losses[1] / losses[0] == pytest.approx(4, rel=0.01)  # four means, added up


def test_the_prompt_of_our_template_is_a_prefix_of_the_conversation():
    tokenizer = experiments.chat_tokenizer(CHAT, TEMPLATE)
    whole = tokenizer.apply_chat_template(CHAT)["input_ids"]
    prompt = tokenizer.apply_chat_template(CHAT[:2], add_generation_prompt=True)["input_ids"]
    assert whole[: len(prompt)] == prompt  # a prompt that ends with a space isn't: the space joins the answer's word


# The experiments, beside loops by hand


def test_made_up_answers_are_drawn_by_the_seed():
    examples = experiments.make_examples(3, constant=2)
    assert examples == experiments.make_examples(3, constant=2) != experiments.make_examples(4, constant=2)
    assert len({tuple(prompt) for prompt, _ in examples}) == 32
    for prompt, answer in examples:
        assert len(prompt) == 6
        assert 2 <= len(answer) <= 7
        assert answer.index(experiments.END) == len(answer) - 1


def test_rows_are_trained_on_as_in_a_plain_loop():
    rows = [(p + a, [-100] * len(p) + a) for p, a in experiments.make_examples(0, 4)]
    _, losses = experiments.train_on_rows(rows, 0, 3)
    torch.manual_seed(0)
    model = AttentionModel(experiments.VOCAB_SIZE, num_heads=4, num_layers=2, max_length=64)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for step in range(3):
        optimizer.param_groups[0]["lr"] = 1e-2 * (1 - step / 3 * (1 - 1 / 3))
        each = [next_token_loss(model(torch.tensor([i[:-1]])), torch.tensor([n[1:]])) for i, n in rows]
        counts = torch.tensor([float(sum(label >= 0 for label in labels)) for _, labels in rows])
        loss = (torch.stack(each) * counts).sum() / counts.sum()
        assert losses[step] == pytest.approx(loss.item(), rel=1e-3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_answers_are_written_up_to_their_end():
    class Counts(torch.nn.Module):
        """Counts down from the last id, and stays at 0."""

        def forward(self, inputs):
            return F.one_hot((inputs - 1).clamp(min=0), 10).float()

    assert experiments.write_answers(Counts(), [[3], [1]], most=4) == [[2, 1, 0], [0]]
    assert experiments.write_answers(Counts(), [[9]], most=2) == [[8, 7]]
    examples = [([5], [4, 3, 0]), ([1], [0])]
    model = Counts()
    _, words, stops, right = experiments.judged(model, examples)
    assert (words, stops, right) == (1, 1, 0.5)  # 4 3 2 1 0 has the right letters first


def test_a_share_is_what_the_weights_say():
    assert experiments.expected_share("token") == pytest.approx(1 / 2)
    assert experiments.expected_share("example") == pytest.approx(13 / 15)
    assert 1 / 2 < experiments.expected_share(8) < experiments.expected_share(4) < 13 / 15


def test_what_is_measured_has_a_number_for_each_run():
    ways = {"all": lambda prompt, answer: [-100, *prompt[1:], *answer]}
    for found in (
        experiments.train_to_answer(ways, (0, 1), num_updates=2),
        experiments.train_from_a_base(ways, (0, 1), num_updates=2),
    ):
        assert {values.shape for values in found["all"]} == {(2,)}
        assert len(experiments.answer_rows(found)[0]) == 6
    lengths = experiments.train_on_two_lengths({"token": "token"}, (0, 1), num_updates=2)
    assert lengths["token"].losses.shape == (2, 32)
    assert lengths["token"].counts.tolist() == [2, 13] * 16
    curves = experiments.evaluate_by_batch_size(lengths, (1, 32), (0, 1))
    runs = lengths["token"]
    assert curves["token"][32].mean == pytest.approx((runs.losses.sum(axis=1) / runs.counts.sum()).mean())
    assert curves["token"][1].mean == pytest.approx((runs.losses / runs.counts).mean())
    assert experiments.length_rows(lengths, {})[0][0] == "token"
