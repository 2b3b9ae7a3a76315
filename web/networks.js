// The view of the networks: what each restores, and its card.
import {at, element} from './dom.js';
import {markdown} from './markdown.js';

const kGreyLevel = 2 / 255;

// Returns a range of noise, "0.005..0.4" in units of [-1, 1], in grey levels.
function greyLevels(range) {
  const [low, high] = String(range).split('..').map((end) => Number((Number(end) / kGreyLevel).toPrecision(2)));
  return high ? `${low} to ${high} grey levels` : `${low} grey levels`;
}

// What tasks are called by who has the damaged picture.
const kTasks = {
  identity: 'noise alone', inpaint_random: 'missing pixels', inpaint_box: 'holes and strips', inpaint_mask: 'masks',
  soft_mask: 'pixels that are known less well', bayer: 'sensor mosaics', super_resolution: 'enlarging means of blocks',
  downscale: 'enlarging', blur_gaussian: 'smooth blurs', blur_motion: 'movement', blur_disk: 'out of focus',
};

// Returns the kinds of damage of a network, each once.
function kinds(tasks) {
  const names = tasks.map((task) => String(task).split(':')[0]);
  return [...new Set(names)].map((name) => kTasks[name] ?? name.replaceAll('_', ' '));
}

const row = ([name, value]) => [element('dt', {}, name), element('dd', {}, String(value))];

function facts(network) {
  const rows = [
    ['Pictures', network.side ? `of ${network.side} × ${network.side} pixels` : 'of any size'],
    ['Colours', network.channels === 1 ? 'grey' : 'red, green, blue'],
    ['Noise', network.sigma_y ? greyLevels(network.sigma_y) : 'as its method needs'],
    ['Trained for', kinds(network.tasks ?? []).join(', ') || 'pictures as such'],
    ['Method', network.input === 'prior' ? 'a prior: name a method in “More settings”, and state the noise' : network.method],
  ].filter(([, value]) => value);
  return element('dl', {class: 'numbers'}, ...rows.flatMap(row));
}

const more = (title, ...parts) => element('details', {}, element('summary', {}, title), ...parts);

function card(network) {
  const tasks = [...new Set(network.tasks)].map((task) => element('li', {}, element('code', {}, task)));
  return element('article', {class: 'network'},
    element('h2', {}, network.name, network.default ? element('span', {class: 'tag'}, 'usual') : null),
    facts(network),
    tasks.length ? more('Exactly what it was trained for', element('ul', {class: 'findings'}, ...tasks)) : null,
    network.card ? more('Its card: training, measurements, limits, licence', ...markdown(network.card)) : null);
}

export function showNetworks(models) {
  if (!at('network-list').children.length) at('network-list').replaceChildren(...models.map(card));
}
