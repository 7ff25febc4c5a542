// A WAI-ARIA combobox with a listbox popup. The focus stays in the input, and
// aria-activedescendant names the active option. The number of options is announced.

import { $, count, el } from "./dom.js";
import { aborted } from "./api.js";

const PAUSE = 120; // ms without typing before the server is asked

/**
 * Makes `input` a combobox.
 * - `search(text, signal)` returns the options,
 * - `show(option)` returns {text, node}: for the input and for the list,
 * - `commit(option | null, text)` is called for a chosen option, or on Enter for typed text,
 * - `browse` shows all options while nothing is typed.
 */
export function combobox(input, { search, show, commit, listLabel, browse = false }) {
  const list = el("ul", {
    role: "listbox",
    id: `${input.id}-list`,
    class: "options-list",
    "aria-label": listLabel,
    hidden: true,
  });
  const wrap = el("div", { class: "combo" });
  input.replaceWith(wrap);
  wrap.append(input, list);
  for (const [name, value] of Object.entries({
    type: "text",
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": list.id,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
  }))
    input.setAttribute(name, value);

  let options = [];
  let active = -1;
  let timer = 0;
  let typed = false; // whether the text is a search, not a chosen option
  let asked = null; // the AbortController of the running search

  function close() {
    clearTimeout(timer);
    asked?.abort();
    typed = false;
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    activate(-1);
  }

  function activate(index) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = index;
    const option = list.children[active];
    if (!option) return input.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", option.id);
  }

  function open(found) {
    options = found;
    active = -1;
    input.removeAttribute("aria-activedescendant");
    list.replaceChildren(
      ...options.map((option, index) =>
        el(
          "li",
          {
            role: "option",
            id: `${list.id}-${index}`,
            "aria-selected": "false",
            on: { click: () => pick(index) },
          },
          show(option).node,
        ),
      ),
    );
    list.hidden = options.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    list.scrollIntoView({ block: "nearest" }); // it may reach below the window
    $("suggestions-live").textContent = options.length
      ? `${count(options.length, "suggestion")}, use the arrow keys`
      : "No suggestions";
  }

  async function look() {
    clearTimeout(timer);
    asked?.abort();
    const text = browse && !typed ? "" : input.value.trim();
    if (!text && !browse) return close();
    const mine = (asked = new AbortController());
    try {
      const found = await search(text, mine.signal);
      if (!mine.signal.aborted && document.activeElement === input) open(found);
    } catch (error) {
      // Ignored: the typed name works without suggestions, and a real
      // failure is shown when the name is used.
      if (!aborted(error)) close();
    }
  }

  function pick(index) {
    const option = options[index];
    input.value = show(option).text;
    close();
    commit(option, input.value);
  }

  function step(by) {
    if (list.hidden)
      return look().then(() => {
        if (!list.hidden) activate(by > 0 ? 0 : options.length - 1);
      });
    // One position more than options: the input itself.
    const places = options.length + 1;
    activate(((active + 1 + by + places) % places) - 1);
  }

  input.addEventListener("input", () => {
    typed = true;
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE);
  });
  input.addEventListener("click", () => {
    if (list.hidden) look();
  });
  input.addEventListener("blur", close);
  // Keeps the focus in the input while the list is clicked or scrolled.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      step(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (active >= 0) return pick(active);
      close();
      commit(null, input.value.trim());
    } else if (event.key === "Escape") {
      if (!list.hidden) {
        event.preventDefault();
        close();
      } else {
        input.value = "";
      }
    }
  });
  return { close };
}
