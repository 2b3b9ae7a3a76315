// What the form says, in the words of the HTTP interface.
import {at, chosen} from './dom.js';

// Strengths of noise from 0.6 to 51 grey levels, what networks are trained for, equal ratios apart.
const kLeast = 0.6, kMost = 51;
export const levelOf = (slider) => Number((kLeast * (kMost / kLeast) ** (slider / 100)).toPrecision(2));
export const sliderOf = (level) => 100 * Math.log(level / kLeast) / Math.log(kMost / kLeast);

// Pillow's bicubic is the usual reduction; of larger factors networks know means of blocks.
function downscale() {
  const factor = chosen('factor'), filter = at('filter').value;
  const used = filter === 'auto' ? (Number(factor) <= 4 ? 'bicubic' : '') : filter;
  return used ? `${factor},${used}` : factor;
}

export function operator() {
  const border = at('border').value;
  const blur = (one) => (border ? {...one, border} : one);
  switch (chosen('damage')) {
    case 'mask': return {mask: true};
    case 'motion': return blur({motion: `${Number(at('motion-length').value)},${Number(at('motion-angle').value)}`});
    case 'defocus': return blur({defocus: Number(at('defocus').value)});
    case 'gaussian': return blur({gaussian: Number(at('gaussian').value)});
    case 'kernel': return blur({kernel: true, ...(at('flip').checked && {flip_kernel: true})});
    case 'downscale': return {downscale: downscale()};
    case 'bayer': return {bayer: at('bayer').value};
    default: return {denoise: true};
  }
}

// Returns the options of the form; `noise` is in grey levels, or null where it is to be estimated.
export function options(name, noise) {
  const all = {operator: operator(), name};
  if (at('model').value) all.model = at('model').value;
  if (at('simulate').checked) all.simulate = true;
  if (noise) all.noise = String(noise);
  for (const number of ['samples', 'steps', 'seed'])
    if (at(number).value !== '') all[number] = Number(at(number).value);
  if (at('method').value.trim()) all.method = at('method').value.trim();
  // A network for one size only sees the whole picture at once.
  if (all.operator.mask && !at('keep-part').hidden) all.region = at('keep').checked ? 'holes' : 'whole';
  return all;
}

const isTicked = (control) => control.type === 'radio' || control.type === 'checkbox';
const kept = (form) => [...form.elements].filter((one) => one.matches('select, input:not([type="file"])'));
const keyOf = (control) => control.id || `${control.name}=${control.value}`;

// Returns what every control of a form says, and lets it say so again.
export const fields = (form) =>
  Object.fromEntries(kept(form).map((one) => [keyOf(one), isTicked(one) ? one.checked : one.value]));
export function setFields(form, values) {
  for (const one of kept(form)) {
    const value = values[keyOf(one)];
    if (value !== undefined) one[isTicked(one) ? 'checked' : 'value'] = value;
  }
}
