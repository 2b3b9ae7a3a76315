// Elements of the page: finding them, making them, and speaking to who listens instead of looking.

export const at = (id) => document.getElementById(id);

// Returns the value of the chosen radio button of a name.
export const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`)?.value;

// Chooses a radio button, as a user would.
export function choose(name, value) {
  const input = document.querySelector(`input[name="${name}"][value="${value}"]`);
  if (!input || input.checked) return;
  input.checked = true;
  input.dispatchEvent(new Event('change', {bubbles: true}));
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

// Returns an element; children are elements or plain text, never markup.
export const element = (name, attributes = {}, ...children) =>
  fill(document.createElement(name), attributes, children);

export const drawing = (name, attributes = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

// Says a sentence to a screen reader.
export function say(words) {
  at('said').textContent = words;
}

let forgetting = 0;

// Shows one line about what went wrong, or nothing.
export function complain(words) {
  clearTimeout(forgetting);
  at('problem').textContent = words || '';
  at('problem').hidden = !words;
  if (words) forgetting = setTimeout(complain, 15000);
}

// Returns a function that runs `act` once, this many milliseconds after its last call.
export function later(milliseconds, act) {
  let waiting = 0;
  return (...values) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => act(...values), milliseconds);
  };
}

// Lets the browser save bytes as a file.
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  element('a', {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
