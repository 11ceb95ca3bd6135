// Figures to play with. The pictures of all settings come in a script when a control is first touched,
// because a page that is opened as a file may run other files, but not read them.
const FRAMES = {}; // name to all frames of a figure, as course_lib/classroom/book_files/figures.py packs them

for (const form of document.querySelectorAll("form.play")) {
  const controls = [...form.querySelectorAll("input, select")];
  let frames;
  form.querySelector("fieldset").hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", async () => {
    for (const control of controls) if (control.type === "range") tell(control);
    try {
      frames ??= load(form.dataset.frames);
      const { hatches, frames: all } = await frames;
      show(form, hatches, all[placeOf(controls)]);
    } catch {
      frames = undefined;
      form.querySelector(".readout").textContent = "The pictures could not be loaded.";
    }
  });
}

function tell(slider) {
  const words = slider.dataset.words.split(" ")[slider.value];
  slider.nextElementSibling.value = words;
  slider.setAttribute("aria-valuetext", words);
}

// The last control changes first, as the last digit of a number does.
function placeOf(controls) {
  return controls.reduce((place, control) => {
    const [here, count] =
      control.type === "range"
        ? [Number(control.value), Number(control.max) + 1]
        : [control.selectedIndex, control.length];
    return place * count + here;
  }, 0);
}

async function load(name) {
  await new Promise((loaded, failed) => {
    const src = `${document.documentElement.dataset.content_root}figures/${name}.js`;
    document.head.append(Object.assign(document.createElement("script"), { src, onload: loaded, onerror: failed }));
  });
  const deflated = Uint8Array.from(atob(FRAMES[name]), (letter) => letter.charCodeAt(0));
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

function show(form, hatches, [said, picture]) {
  const place = form.querySelector(".picture");
  const image = place.querySelector("img");
  form.querySelector(".readout").textContent = said;
  place.hidden = !picture;
  if (!picture) return;
  if (!image) {
    place.innerHTML = picture;
    return;
  }
  const used = Object.keys(hatches).filter((id) => picture.includes(`url(#${id})`));
  const svg = picture.replace("</svg>", `<defs>${used.map((id) => hatches[id]).join("")}</defs></svg>`);
  if (image.src.startsWith("blob:")) URL.revokeObjectURL(image.src);
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  image.parentElement.href = image.src;
}
