// The exactness view: pictures of two pixels, whose exact posterior is known, and what methods draw.
import * as api from './api.js';
import {at, chosen, complain, element, later} from './dom.js';
import {dot, ellipseOf, extent, moments, shade} from './plane.js';

const kSamples = 400, kGrid = 96;
const kWords = {
  eps: ['EPS', 'what this program draws with'],
  dps: ['DPS', 'follows the gradient of the misfit'],
  pigdm: ['PiGDM', 'takes the posterior at each step as Gaussian'],
  ddrm: ['DDRM', 'mixes measured and imagined parts'],
  ddnm: ['DDNM', 'replaces what was measured'],
  diffpir: ['DiffPIR', 'alternates between picture and measurement'],
  mpgd: ['MPGD', 'a gradient step on the estimate'],
  daps: ['DAPS', 'draws anew at each level of noise'],
  truth: ['The exact answer', 'drawn from the posterior itself'],
};

let seed = 0, running = null, started = false;

export function showExactness() {
  if (!started) listen();
  started = true;
  sayValues();
  ask();
}

function listen() {
  const soon = later(60, ask);
  at('exactness-controls').addEventListener('input', () => {
    sayValues();
    soon();
  });
  at('exact-again').addEventListener('click', () => {
    ++seed;
    ask();
  });
  addEventListener('themechange', () => { if (last) draw(last); });
}

function sayValues() {
  at('exact-y-said').textContent = Number(at('exact-y').value).toFixed(2);
  at('exact-angle-said').textContent = `${at('exact-angle').value}°`;
  at('exact-sigma-said').textContent = Number(at('exact-sigma').value).toFixed(2);
}

let last = null;

async function ask() {
  running?.abort();
  const mine = running = new AbortController();
  const turn = at('exact-angle').value * Math.PI / 180;
  const a = [Math.cos(turn), Math.sin(turn)], y = Number(at('exact-y').value);
  try {
    const answer = await api.exactness({
      prior: chosen('prior'), sigma_y: at('exact-sigma').value, a: a.map((one) => one.toFixed(6)).join(','), y, samples: kSamples, seed,
    }, mine.signal);
    if (mine !== running) return;
    last = {...answer, a, y};
    draw(last);
    complain();
  } catch (failure) {
    if (failure.name !== 'AbortError') complain(failure.message);
  }
}

// Returns how far the samples are from the exact answer, in words.
function judged(samples, exact) {
  const {mean, covariance} = moments(samples);
  const spread = (c) => Math.sqrt(c[0][0] + c[1][1]);
  const off = Math.hypot(mean[0] - exact.mean[0], mean[1] - exact.mean[1]) / spread(exact.covariance);
  const ratio = spread(covariance) / spread(exact.covariance);
  return `Centre off by ${(100 * off).toFixed(0)}% of the spread; spread ${(100 * ratio).toFixed(0)}% of the true one.`;
}

function draw(answer) {
  const all = [{name: 'truth', samples: answer.truth.samples}, ...answer.methods];
  const exact = ellipseOf(answer.truth.components);
  const reach = extent(answer.prior.components);
  const plots = at('exact-plots');
  // Plots stay where they are while a slider moves.
  while (plots.children.length > all.length) plots.lastChild.remove();
  while (plots.children.length < all.length)
    plots.append(element('figure', {}, element('canvas', {role: 'img'}), element('figcaption', {}, element('b'), element('span'))));
  all.forEach((method, k) => {
    const [canvas, caption] = plots.children[k].children;
    const [name, how] = kWords[method.method ?? method.name] ?? [method.name, ''];
    const said = method.name === 'truth' ? '' : method.samples.length ? judged(method.samples, exact) : `No answer: ${method.error}.`;
    caption.children[0].textContent = name;
    caption.children[1].textContent = [how && `${how[0].toUpperCase()}${how.slice(1)}.`, said].filter(Boolean).join(' ');
    canvas.setAttribute('aria-label', `${name}: ${method.samples.length} samples of two pixels. ${said}`);
    drawPlot(canvas, method, answer, reach);
  });
}

function drawPlot(canvas, method, {truth, a, y}, reach) {
  const side = canvas.width = canvas.height = Math.round(canvas.clientWidth * devicePixelRatio) || 300;
  const context = canvas.getContext('2d'), style = getComputedStyle(canvas);
  const across = (v) => (v + reach) / (2 * reach) * side, down = (v) => (reach - v) / (2 * reach) * side;
  context.drawImage(shade(truth.components, reach, kGrid, style.color), 0, 0, side, side);
  context.strokeStyle = style.outlineColor;
  context.lineWidth = devicePixelRatio;
  context.setLineDash([6 * devicePixelRatio, 5 * devicePixelRatio]);
  context.beginPath();  // all pictures that the measurement would fit exactly: a.x = y
  context.moveTo(across(a[0] * y - 9 * a[1]), down(a[1] * y + 9 * a[0]));
  context.lineTo(across(a[0] * y + 9 * a[1]), down(a[1] * y - 9 * a[0]));
  context.stroke();
  context.fillStyle = style.textDecorationColor;
  context.globalAlpha = .55;
  for (const [x1, x2] of method.samples) dot(context, across(x1), down(x2), 1.6 * devicePixelRatio);
}
