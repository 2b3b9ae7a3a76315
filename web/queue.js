// The restorations of the server, seen from every view: one chip for each.
import * as api from './api.js';
import {at, complain, element, say} from './dom.js';
import {kStates} from './words.js';

const chips = new Map();
let shown = null, waiting = 0, asking = false, told = () => {};

function makeChip(id) {
  const name = element('b'), state = element('span', {class: 'state'});
  const progress = element('progress', {max: 1, value: 0, 'aria-hidden': 'true'});
  const link = element('a', {href: `#job=${id}`}, name, progress, state);
  const button = element('button', {type: 'button', class: 'quiet', onclick: () => remove(id)}, '×');
  const chip = {item: element('li', {}, link, button), name, state, progress, link, button};
  chips.set(id, chip);
  at('jobs').prepend(chip.item);
  return chip;
}

function update(job) {
  const chip = chips.get(job.id) ?? makeChip(job.id);
  const active = job.state === 'queued' || job.state === 'running';
  const {done = 0, total = 0} = job.evaluations ?? {};
  chip.name.textContent = job.name;
  chip.progress.hidden = job.state !== 'running' || !total;
  chip.progress.value = total ? done / total : 0;
  const waits = job.position > 1 ? `waits, ${job.position - 1} before it` : 'waits, next';
  chip.state.textContent = job.state === 'queued' ? waits : kStates[job.state];
  chip.state.className = `state ${job.state}`;
  chip.button.setAttribute('aria-label', `${active ? 'Cancel' : 'Remove'} ${job.name}`);
  chip.button.title = active ? 'Cancel' : 'Remove';
  if (chip.last && chip.last !== job.state && job.id !== shown) say(`${job.name}: ${kStates[job.state]}`);
  chip.last = job.state;
  if (job.id === shown) chip.link.setAttribute('aria-current', 'true');
  else chip.link.removeAttribute('aria-current');
}

// Asks for the list and draws it. The list is asked for again sooner while something is at work.
export async function refresh() {
  clearTimeout(waiting);
  let pause = 5000;
  if (!asking && !document.hidden) {
    asking = true;
    try {
      const jobs = await api.restorations();
      const known = new Set(jobs.map((job) => job.id));
      for (const [id, chip] of chips) if (!known.has(id)) {
        chip.item.remove();
        chips.delete(id);
      }
      jobs.forEach(update);
      at('queue').hidden = !jobs.length;
      if (jobs.some((job) => job.state === 'queued' || job.state === 'running')) pause = 1000;
      told(known, jobs);
    } catch (failure) {
      complain(failure.message);
    }
    asking = false;
  }
  clearTimeout(waiting);
  waiting = setTimeout(refresh, pause);
}

// Cancels a restoration, or removes a finished one.
export async function remove(id) {
  try {
    await api.remove(id);
  } catch (failure) {
    if (failure.status !== 404) complain(failure.message);
  }
  await refresh();
}

// Marks the restoration that is looked at.
export function mark(id) {
  shown = id;
  for (const [one, chip] of chips)
    if (one === id) chip.link.setAttribute('aria-current', 'true');
    else chip.link.removeAttribute('aria-current');
}

// Starts to follow the queue; `tell` gets the set of ids and the list after each answer.
export function startQueue(tell) {
  told = tell;
  document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });
  refresh();
}
