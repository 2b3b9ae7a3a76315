// The view of the networks: what each restores, and its card.
import {at, element} from './dom.js';
import {markdown} from './markdown.js';

const kGreyLevel = 2 / 255;

// Returns a range of noise, "0.005..0.4" in units of [-1, 1], in grey levels.
function greyLevels(range) {
  const [low, high] = String(range).split('..').map((end) => Number((Number(end) / kGreyLevel).toPrecision(2)));
  return high ? `${low} to ${high} grey levels` : `${low} grey levels`;
}

function facts(network) {
  const rows = [
    ['Pictures', network.side ? `of ${network.side} × ${network.side} pixels` : 'of any size'],
    ['Colours', network.channels === 1 ? 'grey' : 'red, green, blue'],
    ['Noise', network.sigma_y ? greyLevels(network.sigma_y) : 'as its method needs'],
    ['Trained for', (network.tasks ?? []).map((task) => String(task).replaceAll('_', ' ')).join(', ') || 'pictures as such'],
    ['Method', network.input === 'prior' ? 'a prior: name a method in “More settings”, and state the noise' : network.method],
  ].filter(([, value]) => value);
  return element('dl', {class: 'numbers'}, ...rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, String(value))]));
}

export function showNetworks(models) {
  if (at('network-list').children.length) return;
  at('network-list').replaceChildren(...models.map((network) => element('article', {class: 'network'},
    element('h2', {}, network.name, network.default ? element('span', {class: 'tag'}, 'usual') : null),
    facts(network),
    network.card ? element('details', {}, element('summary', {}, 'Its card: training, measurements, limits, licence'), ...markdown(network.card)) : null)));
}
