// What was begun to be said of a picture, kept in its tab so that a reload loses no stroke. It goes
// with the tab, or when another picture is wanted.
import {later} from './dom.js';

const kDraft = 'eps-draft', kPicture = 'eps-picture';
let turns = 0, stored = null;

// Returns a file as text, which is all that the store of a tab takes, and the file of a text.
const packed = (file) => file && new Promise((done, fail) => {
  const reader = new FileReader();
  reader.onload = () => done({name: file.name, type: file.type, text: reader.result.split(',')[1]});
  reader.onerror = () => fail(reader.error);
  reader.readAsDataURL(file);
});
const unpacked = (kept) => kept
  && new File([Uint8Array.from(atob(kept.text), (c) => c.charCodeAt(0))], kept.name ?? '', {type: kept.type});

// Keeps a value under a name; nothing where there is no room, some five million letters.
function put(name, value) {
  sessionStorage.removeItem(name);
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch { /* see kept() */ }
}

// Keeps the draft that `tell` promises, a little later; null: there is none.
export const keep = later(300, async (tell) => {
  const turn = ++turns, draft = await tell();
  const file = draft?.picture.file;
  const [mask, kernel] = await Promise.all([packed(draft?.mask), packed(draft?.kernel)]);
  const picture = (file !== stored && await packed(file)) || null;
  if (turn !== turns) return;
  if (file !== stored) put(kPicture, picture);
  stored = file;
  put(kDraft, draft && {...draft, mask, kernel});
});
export const forget = () => keep(async () => null);

// Returns the draft that a reload has left, or nothing. Its picture has neither a file nor the name
// of a demo where there was no room for it.
export function kept() {
  const read = (name) => JSON.parse(sessionStorage.getItem(name));
  const draft = read(kDraft);
  if (!draft) return null;
  const {picture, mask, kernel} = draft;
  return {...draft, mask: unpacked(mask), kernel: unpacked(kernel), picture: {...picture, file: unpacked(read(kPicture))}};
}
