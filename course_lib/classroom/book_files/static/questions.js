// Questions whose numbers are drawn. What each answer means has been worked out beforehand, see
// course_lib/classroom/book_files/questions.py.
for (const block of document.querySelectorAll(".drawn")) {
  const question = JSON.parse(block.dataset.drawn);
  const [form, said, box] = ["form", ".said", "input"].map((part) => block.querySelector(part));
  let variant = 0;
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    say(...replyTo(question, question.variants[variant], box.value));
  });
  form.querySelector("[type=button]").addEventListener("click", () => {
    variant = (variant + 1) % question.variants.length;
    const { task, shown } = question.variants[variant];
    block.querySelector(".task").innerHTML = task;
    block.querySelector(".answer").textContent = shown;
    block.querySelector(".seed").textContent = `seed ${variant + 1}`;
    block.querySelector(".solution").open = false;
    box.value = "";
    say("", "");
  });

  function say(outcome, words) {
    said.className = `said ${outcome}`;
    said.innerHTML = words;
  }
}

function replyTo({ whole, words, fraction }, { answer, known }, text) {
  let number;
  try {
    [number] = judge.read(text, { answer: [answer], floats: [!whole] });
  } catch (unreadable) {
    return ["raised", unreadable.message];
  }
  const found = known.find(([low, high]) => low <= number && number <= high);
  if (!found) return ["failed", whole && !Number.isInteger(number) ? fraction : words[1]];
  return [found[2] === 0 ? "passed" : "failed", words[found[2]]];
}
