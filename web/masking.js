// The buttons, files and keys by which a mask is changed.
import {at, chosen, complain, save} from './dom.js';

// Makes the brush larger or smaller by a fifth, or a pixel.
function resize(painting, larger) {
  const step = Math.max(1, Math.round(painting.size / 5));
  at('brush').value = painting.size + (larger ? step : -step);
  painting.size = Number(at('brush').value);
}

// Lets the buttons and keys of a mask work: `painting` is {mask, kind, size}, and `changed` is called
// after each change.
export function listenToMask(painting, changed) {
  for (const input of document.querySelectorAll('[name="tool"]'))
    input.addEventListener('change', () => { painting.kind = chosen('tool'); });
  const act = (id, does) => at(id).addEventListener('click', () => {
    does();
    changed();
  });
  act('undo', () => painting.mask.undo());
  act('redo', () => painting.mask.redo());
  act('clear', () => painting.mask.clear());
  act('invert', () => painting.mask.invert());
  at('mask-save').addEventListener('click', async () => save(await painting.mask.file(), 'mask.png'));
  at('mask-file').addEventListener('change', async (event) => {
    const [file] = event.target.files;
    event.target.value = '';
    if (!file) return;
    try {
      painting.mask.load(await createImageBitmap(file));
      complain();
    } catch (failure) {
      complain(failure.message.includes('mask has') ? failure.message : `${file.name}: no picture that can be read`);
    }
    changed();
  });
  addEventListener('keydown', (event) => {
    if (at('describe').hidden || chosen('damage') !== 'mask' || event.target.matches?.('input[type="number"], input[type="text"]')) return;
    const control = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
    if (control ? key !== 'z' && key !== 'y' : key !== '[' && key !== ']') return;
    event.preventDefault();
    if (!control) resize(painting, key === ']');
    else if (key === 'y' || event.shiftKey) painting.mask.redo();
    else painting.mask.undo();
    changed();
  });
}
