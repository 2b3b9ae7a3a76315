// A live preview of what the operator makes of the picture, by the server.
import * as api from './api.js';
import {at, complain, element, later} from './dom.js';

// Adds the switch to a bar; `show` is called when the picture to show has changed.
export function startPreview(bar, show) {
  let image = null, pressed = false, ask = null, running = null, touched = false, simulated = false;
  const button = element('button', {type: 'button', 'aria-pressed': 'false', title: 'What this damage makes of the picture', onclick() {
    touched = true;
    set(!pressed);
  }}, 'Preview');
  bar.prepend(button);

  function set(value) {
    pressed = value;
    button.setAttribute('aria-pressed', String(value));
    if (value) draw();
    else {
      running?.abort();
      image = null;
      note();
      show();
    }
  }

  // Says what is seen: of a picture that is damaged already, more than happened to it.
  function note() {
    at('edit-note').hidden = !image;
    at('edit-note').textContent = simulated ? 'Preview of the damage' : 'Preview: the damage once more';
  }

  const draw = later(120, async () => {
    if (!pressed || !ask) return;
    running?.abort();
    const mine = running = new AbortController();
    try {
      const said = await ask();
      // Noise that the server would add by itself is seen here only if it is stated.
      const noise = simulated ? {noise: 'sigma=0.05'} : {};
      const drawn = await api.preview({...noise, ...said.options, simulate: true}, said.picture, said.files, mine.signal);
      if (mine !== running || !pressed) return;
      image = drawn;
      note();
      show();
    } catch (failure) {
      if (failure.name !== 'AbortError') complain(failure.message);
    }
  });

  return {
    shown: () => image,
    // Another picture is seen as it is.
    reset() {
      touched = false;
      set(false);
    },
    // Follows what is said: `request` gives it, or is null where it is not complete. Where the
    // picture is damaged first, the preview shows by itself how.
    follow(request, damaged) {
      ask = request;
      simulated = damaged;
      button.disabled = !request;
      if (!touched && simulated !== pressed && (request || !simulated)) set(simulated);
      else if (!request) {
        image = null;
        note();
      } else {
        draw();
      }
    },
  };
}
