// The page as a whole: which view is shown, and how pictures come in.
import * as api from './api.js';
import {describe, describes, hasPicture, resume, startDescribe} from './describe.js';
import {at, complain, element} from './dom.js';
import {kept} from './draft.js';
import {showExactness} from './exactness.js';
import {closeJob, openJob, startJob} from './job.js';
import {showNetworks} from './networks.js';
import {open, openAgain, openDemo, openKept} from './picture.js';
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

// Returns whether there is a draft of this picture, for which a tab had no room.
function waits({name, width, height}) {
  const {picture} = (!hasPicture() && kept()) || {};
  return picture && !picture.file && picture.name === name && picture.width === width && picture.height === height;
}

// Opens a picture, from wherever it came, and asks what happened to it.
async function take(opening) {
  try {
    const picture = await opening;
    complain();
    // The stage measures its place, so it has to be seen first.
    show('describe', 'new');
    if (waits(picture)) await resume(picture, kept());
    else describe(picture);
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

// Goes on with what was begun before the page was loaded, unless a picture came sooner.
async function goOn() {
  const draft = kept();
  if (!draft) return;
  if (!draft.picture.file && !draft.picture.demo) {
    const {name} = draft.picture;
    complain(`The tab had no room for ${name}. Open it again, and what was painted and said of it comes back.`);
    return;
  }
  const picture = await openKept(draft.picture);
  if (hasPicture()) return;
  await resume(picture, draft);
  route();
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
  startJob({again: (job) => (describes(job.id) ? (location.hash = 'new') : take(openAgain(job)))});
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
    goOn().catch(() => null);  // a draft that cannot be read is none
    await listDemos();
  } catch (failure) {
    complain(failure.message);
  }
}

start();
