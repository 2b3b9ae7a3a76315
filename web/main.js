// The page as a whole: which view is shown, and how pictures come in.
import * as api from './api.js';
import {describe, hasPicture, startDescribe} from './describe.js';
import {at, complain, element} from './dom.js';
import {showExactness} from './exactness.js';
import {closeJob, openJob, startJob} from './job.js';
import {showNetworks} from './networks.js';
import {open, openAgain, openDemo} from './picture.js';
import * as queue from './queue.js';
import {startTheme} from './theme.js';

const kViews = ['start', 'describe', 'job', 'exactness', 'networks'];
let models = [];

function show(view, page) {
  for (const one of kViews) at(one).hidden = one !== view;
  for (const link of document.querySelectorAll('[data-page]'))
    if (link.dataset.page === page) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
}

// Gives the focus to the view where what had it is no longer seen.
function keepFocus() {
  if (!document.activeElement?.offsetParent) at('content').focus({preventScroll: true});
}

// Shows what the address names: #new, #job=ID, #exactness, #networks.
function route() {
  const hash = location.hash.slice(1);
  if (hash.startsWith('job=')) {
    show('job', '');
    openJob(hash.slice(4));
    return;
  }
  closeJob();
  if (hash === 'exactness') {
    show('exactness', hash);
    showExactness();
  } else if (hash === 'networks') {
    show('networks', hash);
    showNetworks(models);
  } else {
    show(hasPicture() ? 'describe' : 'start', 'new');
  }
}

// Opens a picture, from wherever it came, and asks what happened to it.
async function take(opening) {
  try {
    const picture = await opening;
    complain();
    // The stage measures its place, so it has to be seen first.
    show('describe', 'new');
    describe(picture);
    if (location.hash !== '#new') location.hash = 'new';
    at('content').focus({preventScroll: true});
    scrollTo(0, 0);
  } catch (failure) {
    complain(failure.message);
  }
}

function listenToPictures() {
  at('choose').addEventListener('change', (event) => {
    const [file] = event.target.files;
    event.target.value = '';
    if (file) take(open(file));
  });
  addEventListener('paste', (event) => {
    const file = [...event.clipboardData.files].find(({type}) => type.startsWith('image/'));
    if (file) take(open(file));
  });
  let depth = 0;  // enter and leave come for every element under the pointer
  const over = (change) => { at('veil').hidden = (depth = Math.max(0, change)) === 0; };
  addEventListener('dragenter', (event) => {
    event.preventDefault();
    over(depth + 1);
  });
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('dragleave', () => over(depth - 1));
  addEventListener('drop', (event) => {
    event.preventDefault();
    over(0);
    const [file] = event.dataTransfer.files;
    if (file) take(open(file));
  });
}

async function listDemos() {
  const demos = await api.demos();
  const small = (demo) => demo.width < 100;
  const item = (demo) => element('li', {class: small(demo) ? 'small' : ''},
    element('button', {type: 'button', onclick: () => take(openDemo(demo))},
      element('img', {src: api.address(`demo/${encodeURIComponent(demo.name)}.png`), alt: demo.name, loading: 'lazy'})));
  at('demos').replaceChildren(...demos.filter((demo) => !small(demo)).map(item),
    element('li', {class: 'break', 'aria-hidden': 'true'}), ...demos.filter(small).map(item));
}

async function start() {
  startTheme();
  listenToPictures();
  startJob({again: (job) => (hasPicture() ? (location.hash = 'new') : take(openAgain(job)))});
  queue.startQueue(() => {});
  try {
    const [status, known] = await Promise.all([api.status(), api.models()]);
    models = known;
    startDescribe({models, limits: status.limits}, {
      create(id) {
        location.hash = `job=${id}`;
        queue.refresh();
      },
      close: () => route(),
    });
    addEventListener('hashchange', () => {
      route();
      keepFocus();
    });
    route();
    await listDemos();
  } catch (failure) {
    complain(failure.message);
  }
}

start();
