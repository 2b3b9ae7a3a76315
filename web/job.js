// The view of one restoration: first how it goes on, then its result.
import * as api from './api.js';
import {at, complain, element, say} from './dom.js';
import * as queue from './queue.js';
import {Result} from './result.js';
import {duration, kStates, stage} from './words.js';

const kTitle = document.title;
let job = null, stream = null, result = null, fetching = false, newest = 0, drawn = 0, spoken = 0;

export function startJob({again}) {
  result = new Result();
  at('cancel').addEventListener('click', () => queue.remove(job.id));
  at('remove').addEventListener('click', async () => {
    await queue.remove(job.id);
    location.hash = 'new';
  });
  at('again').addEventListener('click', () => again(job));
  at('copy').addEventListener('click', copyCommand);
  // A browser has six connections for a server: tabs that nobody sees give theirs back.
  document.addEventListener('visibilitychange', () => {
    if (!job || at('job').hidden) return;
    if (document.hidden) stop();
    else if (isActive()) openJob(job.id);
  });
}

const isActive = () => job.state === 'queued' || job.state === 'running';

async function copyCommand() {
  try {
    await navigator.clipboard.writeText(at('command').textContent);
    at('copy').textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(at('command'));
    at('copy').textContent = 'Selected: press Ctrl C';
  }
  setTimeout(() => { at('copy').textContent = 'Copy'; }, 3000);
}

function stop() {
  stream?.close();
  stream = null;
}

export function closeJob() {
  stop();
  result?.close();
  job = null;
  queue.mark(null);
  document.title = kTitle;
}

// Shows a restoration, as far as it is.
export async function openJob(id) {
  stop();
  const same = job?.id === id;
  if (!same) {
    result.close();
    newest = drawn = spoken = 0;
  }
  let next;
  try {
    next = await api.restoration(id);
  } catch (failure) {
    complain(failure.status === 404 ? 'This restoration is no longer kept.' : failure.message);
    if (failure.status === 404) location.replace('#new');
    return;
  }
  if (location.hash !== `#job=${id}`) return;  // something else was chosen meanwhile
  job = next;
  queue.mark(id);
  show();
  if (!same) await result.open(job);
  if (job?.id !== id) return;
  if (isActive()) watch(id);
  else if (job.state === 'done') result.showResult(job);  // its pictures come one by one
}

function show() {
  at('job-name').textContent = job.name;
  const {done, total} = job.evaluations ?? {};
  document.title = `${job.name}, ${job.state === 'running' && total ? `${Math.floor(100 * done / total)}%` : kStates[job.state]}: eps`;
  at('job-state').textContent = kStates[job.state];
  at('job-state').className = `state ${job.state}`;
  at('progress-part').hidden = !isActive();
  at('result-part').hidden = !result.complete;
  at('job-error').hidden = !job.error;
  at('job-error').textContent = job.error ?? '';
  at('command').textContent = job.command ?? '';
  at('command-part').hidden = !job.command;
  at('remove').hidden = isActive();
  showWarnings();
  showProgress();
}

function showWarnings() {
  const warnings = job.warnings ?? [];
  at('warnings-part').hidden = !warnings.length;
  at('warnings-part').open = warnings.length > 0;
  at('warnings-title').textContent = warnings.length === 1 ? 'One note of the program' : `${warnings.length} notes of the program`;
  at('warnings').replaceChildren(...warnings.map((one) => element('li', {}, one)));
}

function showProgress() {
  const {done = 0, total = 0} = job.evaluations ?? {};
  at('progress').value = total ? done / total : 0;
  at('progress-words').textContent = job.state === 'queued'
    ? (job.position > 1 ? `Waits: ${job.position - 1} before it.` : 'Waits: it is the next.')
    : job.stage ? stage(job.stage) : 'Loads the network.';
  const left = duration(job.seconds_left);
  at('progress-left').textContent = total ? `${done} of ${total} steps done, ${total - done} left${left && done ? `: ${left}` : ''}` : '';
  // Every quarter is said aloud.
  const quarter = total ? Math.floor(4 * done / total) : 0;
  if (quarter > spoken && quarter < 4) say(`${25 * quarter}% done${left ? `, ${left} left` : ''}`);
  spoken = quarter;
}

function watch(id) {
  const heard = (change) => (data) => {
    if (job?.id !== id) return;
    change(data);
    show();
  };
  stream = api.events(id, {
    state: heard(({state, position}) => Object.assign(job, {state, position})),
    stage: heard(({name, total}) => {
      job.stage = name;
      job.evaluations = {done: 0, total};
    }),
    evaluation: heard(({done, total, seconds_left, preview}) => {
      Object.assign(job, {evaluations: {done, total}, seconds_left});
      showMean(id, preview);
    }),
    warning: heard(({text}) => { if (!job.warnings.includes(text)) job.warnings.push(text); }),
    end: () => finish(id),
    lost: () => setTimeout(() => { if (job?.id === id) finish(id); }, 2000),
  });
}

// Draws the running mean, the newest that there is by then.
async function showMean(id, n) {
  newest = Math.max(newest, n || 0);
  if (fetching) return;
  fetching = true;
  while (job?.id === id && newest > drawn && isActive()) {
    const wanted = newest;
    try {
      const mean = await api.running(id, wanted);
      if (job?.id === id && isActive()) result.showRunning(mean);
    } catch { /* a later one comes, or the result */ }
    drawn = wanted;
  }
  fetching = false;
}

async function finish(id) {
  stop();
  if (job?.id !== id) return;
  await queue.refresh();
  if (job?.id !== id) return;
  await openJob(id);
  if (job?.id === id) say(`${job.name}: ${kStates[job.state]}`);
}
