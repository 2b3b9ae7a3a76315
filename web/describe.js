// The view in which one says what happened to a picture.
import * as api from './api.js';
import {fields, levelOf, options, setFields, sliderOf} from './controls.js';
import {at, choose, chosen, complain, later, say} from './dom.js';
import {forget, keep} from './draft.js';
import {Mask} from './mask.js';
import {listenToMask} from './masking.js';
import {tooLarge} from './picture.js';
import {showPoint} from './point.js';
import {startPreview} from './preview.js';
import {Stage} from './stage.js';
import {lineTool, paintTool, patchTool} from './tools.js';

const painting = {mask: null, kind: 'brush', size: 12};
const line = {length: 15, angle: 0};
const patch = {box: null, level: null};
let said = false;  // whether the user said if the picture is fine
const made = new Set();  // the restorations of this picture
let picture = null, kernel = null, models = [], limits = {}, stage, tools, preview, created, closed;

export const hasPicture = () => Boolean(picture);
export const describes = (id) => Boolean(picture) && made.has(id);

// Starts the view: `create` gets the number of a new restoration, `close` is called for no picture.
export function startDescribe(knows, {create, close}) {
  ({models, limits} = knows);
  created = create;
  closed = close;
  stage = new Stage(at('edit'), at('edit-bar'));
  tools = makeTools();
  preview = startPreview(at('edit-bar'), show);
  stage.overlay = (context, corner) => stage.tool?.draw?.(context, corner, stage.scale);
  listModels();
  listenToForm();
  listenToMask(painting, changed);
  listenToKernel();
}

// Takes another picture; what was said of the last one is kept where it still makes sense.
export function describe(next) {
  picture = next;
  painting.mask = new Mask(picture.width, picture.height);
  patch.box = patch.level = null;
  said = false;
  line.x = line.y = undefined;
  made.clear();
  preview.reset();
  at('picture-name').textContent = picture.name;
  at('picture-size').textContent = `${picture.width} × ${picture.height} pixels. ${picture.note ?? ''}`;
  const refused = tooLarge(picture, limits);
  if (refused) complain(refused);
  stage.size = {width: 0, height: 0};
  stage.setSize(picture.width, picture.height);
  // A brush that covers about a fiftieth of the picture.
  painting.size = Math.min(120, Math.max(2, Math.round(Math.max(picture.width, picture.height) / 50)));
  at('brush').value = painting.size;
  if (picture.mask) {
    choose('damage', 'mask');
    painting.mask.load(picture.mask);
  }
  changed();
}

// Goes on with a draft; `next` is its picture.
export async function resume(next, draft) {
  const mask = draft.mask && await createImageBitmap(draft.mask);
  kernel = draft.kernel && await openKernel(draft.kernel);
  describe(next);
  setFields(at('form'), draft.fields);
  painting.size = Number(at('brush').value);
  painting.kind = chosen('tool');
  if (mask) painting.mask.load(mask);
  painting.mask.past = [];
  at('kernel-name').textContent = kernel?.file.name ?? '';
  Object.assign(line, draft.line);
  Object.assign(patch, draft.patch);
  ({said} = draft);
  for (const id of draft.made) made.add(id);
  changed();
}

async function toDraft() {
  const {file, demo, name, note, width, height} = picture;
  return {
    picture: {file, demo, name, note, width, height}, fields: fields(at('form')), line: {...line}, patch: {...patch}, said,
    mask: painting.mask.count ? await painting.mask.file() : null, kernel: kernel?.file, made: [...made],
  };
}

// Returns the network that serves where none is named: holes have one of their own.
const usual = () => models.find((one) => (chosen('damage') === 'mask' ? one.default_for_holes : one.default));
const network = () => models.find((one) => one.name === at('model').value) ?? usual();

// Returns whether a suggestion is shown: a network that fits the size of the result better.
function advise() {
  const factor = chosen('damage') === 'downscale' && !at('simulate').checked ? Number(chosen('factor')) : 1;
  const width = picture.width * factor, height = picture.height * factor;
  const now = network();
  const fits = (one) => one && (!one.side || (one.side === width && one.side === height));
  const other = !fits(now) ? [usual(), ...models].find((one) => fits(one) && !one.side && one.input !== 'prior')
    : !now?.side && models.find((one) => one.side && fits(one) && one.input !== 'prior');
  at('advice').hidden = !other || !chosen('damage');
  if (!other) return;
  at('advice-words').textContent = fits(now)
    ? `The result has ${width} × ${height} pixels. If it is a face, the network ${other.name} knows more.`
    : `The network ${now.name} restores pictures of ${now.side} × ${now.side} pixels only, and the result has ${width} × ${height}.`;
  at('advice-take').textContent = `Use ${other.name}`;
  at('advice-take').onclick = () => {
    at('model').value = other === usual() ? '' : other.name;
    changed();
    say(`The network is ${other.name}.`);
  };
}

function listModels() {
  at('model').replaceChildren(new Option('the usual', ''), ...models.map((one) => new Option(one.name)));
  at('samples').max = limits.samples ?? 64;
  at('steps').max = limits.steps ?? 1000;
}

// Returns the noise in grey levels; null: it is estimated.
const noise = () => (chosen('noise') === 'level' ? levelOf(at('noise').value) : chosen('noise') === 'patch' ? patch.level : null);

function noiseWords() {
  const simulated = at('simulate').checked;
  if (chosen('noise') === 'level') return 'Of 255 grey levels. Daylight has 1 to 3, a room at night 5 to 15.';
  if (chosen('noise') === 'auto')
    return simulated ? 'Noise of 6 grey levels is added.' : 'eps estimates the noise from the picture itself.';
  return patch.level ? `The patch has noise of ${patch.level} grey levels.`
    : 'Draw a rectangle where the picture should be of one colour: sky, a wall.';
}

// The tools are made once: a stroke goes on while what it changes is drawn.
function makeTools() {
  return {
    patch: patchTool(stage, patch, readPatch),
    mask: paintTool(stage, painting, changed),
    motion: lineTool(stage, line, () => {
      at('motion-length').value = line.length;
      at('motion-angle').value = line.angle;
      changed();
    }),
  };
}

function chooseTool() {
  const damage = chosen('damage');
  stage.tool = tools[chosen('noise') === 'patch' ? 'patch' : damage] ?? null;
  stage.canvas.style.cursor = stage.tool && !(damage === 'mask' && painting.kind === 'hand') ? 'crosshair' : 'grab';
}

async function readPatch() {
  const {left, top, right, bottom} = patch.box;
  if (right - left < 8 || bottom - top < 8) return complain('The patch is too small: at least 8 × 8 pixels are wanted.');
  try {
    const read = await api.noise(picture, {x: left, y: top, width: right - left, height: bottom - top});
    patch.level = Number(read.grey_levels.toPrecision(2)) || kNoNoise;
    at('noise').value = sliderOf(patch.level);
    complain();
  } catch (failure) {
    complain(failure.message);
  }
  changed();
}
const kNoNoise = 0.1;

// Brings the form, the stage and the preview up to date with what was said.
function changed() {
  if (!picture) return;
  const damage = chosen('damage');
  // Demo pictures are fine: nothing happened to them but what is painted over.
  if (!said) at('simulate').checked = Boolean(picture.demo) && damage !== 'mask';
  for (const part of document.querySelectorAll('[data-damage]')) part.hidden = part.dataset.damage !== damage;
  for (const id of ['noise-part', 'simulate-part', 'settings', 'go']) at(id).hidden = !damage;
  const simulated = at('simulate').checked;
  at('noise-legend').textContent = simulated ? 'How much noise to add?' : 'How noisy is it?';
  at('noise-auto').textContent = simulated ? 'A little' : 'Find out';
  at('noise-chosen').textContent = simulated ? 'Choose' : 'I know';
  document.querySelector('[name="noise"][value="patch"]').parentElement.hidden = simulated;
  if (simulated && chosen('noise') === 'patch') choose('noise', 'auto');
  at('noise-said').textContent = noiseWords();
  at('noise-slide').hidden = chosen('noise') !== 'level';
  at('noise-level').textContent = levelOf(at('noise').value);
  at('brush-said').textContent = `${painting.size} px`;
  for (const id of ['defocus', 'gaussian']) at(`${id}-said`).textContent = `${at(id).value} px`;
  const factor = Number(chosen('factor'));
  at('enlarged').textContent = simulated ? `Reduced ${factor} ×, then enlarged again.`
    : `The result will have ${picture.width * factor} × ${picture.height * factor} pixels.`;
  const share = painting.mask.count / painting.mask.painted.length;
  at('mask-share').textContent = share ? `${(100 * share).toPrecision(2)}% of the picture is painted.` : 'Nothing is painted yet.';
  at('model').options[0].textContent = `the usual: ${usual()?.name}`;
  at('keep-part').hidden = Boolean(network()?.side);
  at('undo').disabled = !painting.mask.past.length;
  at('redo').disabled = !painting.mask.future.length;
  at('clear').disabled = at('mask-save').disabled = !share;
  showPoint({
    motion: damage === 'motion' && line, gaussian: damage === 'gaussian' && Number(at('gaussian').value),
    defocus: damage === 'defocus' && Number(at('defocus').value),
    kernel: damage === 'kernel' && kernel?.bitmap, flipped: at('flip').checked,
  });
  advise();
  chooseTool();
  preview.follow(ready() ? () => request() : null, simulated);
  keep(toDraft);
  show();
}

// Returns whether all that the chosen damage needs has been given.
const ready = () => ({mask: painting.mask?.count > 0, kernel: Boolean(kernel)})[chosen('damage')] ?? Boolean(chosen('damage'));

// Returns what a request sends: options, picture and files.
async function request() {
  const files = {};
  if (chosen('damage') === 'mask') files.mask = await painting.mask.file();
  if (chosen('damage') === 'kernel') files.kernel = kernel.file;
  return {options: options(picture.name, noise()), picture, files};
}

function show() {
  if (!picture) return;
  const layers = [{image: preview.shown() ?? picture.bitmap}];
  if (chosen('damage') === 'mask' && !preview.shown()) layers.push({image: painting.mask.shown});
  stage.panes = [{layers}];
  stage.draw();
}

async function submit(quick) {
  const refused = tooLarge(picture, limits);
  if (refused) return complain(refused);
  if (chosen('damage') === 'mask' && !ready()) return complain('Nothing is painted yet: paint over what is wrong.');
  if (!ready()) return complain('The picture of the blur is missing.');
  if (chosen('noise') === 'patch' && !patch.level) return complain('Draw the patch of which the noise is to be read.');
  const wanted = await request();
  if (quick) {
    wanted.options.quick = true;
    for (const name of ['samples', 'steps', 'method']) delete wanted.options[name];
  }
  at('restore').disabled = at('quick').disabled = true;
  const submitted = picture;
  try {
    const job = await api.create(wanted.options, wanted.picture, wanted.files);
    complain();
    if (picture === submitted) {  // not another that was opened meanwhile
      made.add(job.id);
      keep(toDraft);
    }
    created(job.id);
  } catch (failure) {
    complain(failure.message);
  } finally {
    at('restore').disabled = at('quick').disabled = false;
  }
}

function listenToForm() {
  const form = at('form');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit(false);
  });
  at('quick').addEventListener('click', () => submit(true));
  at('another').addEventListener('click', () => {
    picture = null;
    forget();
    closed();
  });
  const soon = later(30, changed);
  form.addEventListener('input', (event) => {
    if (event.target.id === 'simulate') said = true;
    if (event.target.id === 'brush') painting.size = Number(at('brush').value);
    if (event.target.id.startsWith('motion-')) {
      line.length = Number(at('motion-length').value) || 1;
      line.angle = Number(at('motion-angle').value) || 0;
    }
    soon();
  });
  form.addEventListener('change', (event) => {
    changed();
    // What belongs to the damage stands below, perhaps out of sight.
    if (event.target.name === 'damage')
      document.querySelector('[data-damage]:not([hidden])')?.scrollIntoView({block: 'nearest'});
  });
}

const openKernel = async (file) => ({file, bitmap: await createImageBitmap(file).catch(() => null)});

function listenToKernel() {
  at('kernel-file').addEventListener('change', async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    kernel = await openKernel(file);
    at('kernel-name').textContent = file.name;
    changed();
  });
}
