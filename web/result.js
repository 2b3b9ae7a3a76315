// The pictures of a restoration on their stage: before and after, samples, and where they disagree.
import * as api from './api.js';
import {at, choose, chosen, complain, element} from './dom.js';
import {Pixel} from './pixel.js';
import {Stage} from './stage.js';
import {numbers, verdict} from './words.js';

const kMostPanes = 16, kFade = 2200;  // milliseconds from one sample to the next

export class Result {
  constructor() {
    this.stage = new Stage(at('view'), at('view-bar'));
    this.pixel = new Pixel();
    this.stage.tool = this.tool();
    this.stage.overlay = (context, corner, pane, frame) => this.drawDivider(context, corner, pane, frame);
    at('divider').addEventListener('input', () => this.draw());
    for (const id of ['heat', 'heat-strength']) at(id).addEventListener('input', () => this.draw());
    for (const input of document.querySelectorAll('[name="arrange"]')) input.addEventListener('change', () => this.draw());
    at('morph').addEventListener('click', () => this.morph(!this.morphing));
    at('strip').addEventListener('change', () => this.showOne(chosen('shown')));
    this.close();
  }

  close() {
    this.morph?.(false);
    this.job = null;
    this.images = new Map();
    this.shown = null;
    this.complete = false;
    this.stage.panes = [];
    this.stage.size = {width: 0, height: 0};
    this.pixel.close();
    at('strip').hidden = true;
    at('heat').checked = false;
    at('divider').value = 50;
  }

  // Begins with the picture that was given.
  async open(job) {
    this.job = job;
    this.stage.setSize(job.width, job.height);
    const before = await this.load('image');
    if (this.job !== job) return;
    this.before = before;
    this.draw();
  }

  // Returns a picture of the restoration, and keeps it; null where there is none.
  load(name) {
    if (!this.images.has(name)) this.images.set(name, api.file(this.job.id, `${name}.png`).catch(() => null));
    return this.images.get(name);
  }

  showRunning(mean) {
    this.shown = mean;
    this.draw();
  }

  async showResult(job) {
    if (this.complete) return;
    this.complete = true;
    this.job = job;
    this.names = this.listNames(job);
    this.showStrip();
    this.showWords(job);
    const sampled = !job.report.quick && job.samples > 1;
    for (const id of ['morph', 'heat', 'pixel-part']) at(id).closest('.row, .check, section').hidden = !sampled;
    document.querySelector('[name="arrange"][value="all"]').parentElement.hidden = !sampled;
    if (sampled) this.pixel.open(job);
    at('result-part').hidden = false;
    const [before, mean] = await Promise.all([this.load(job.report.simulated ? 'measurement' : 'image'), this.load('mean')]);
    if (this.job !== job) return;
    this.before = before ?? this.before;
    this.shown = mean;
    // The picture that was given may have been smaller.
    if (mean) this.stage.setSize(mean.width, mean.height);
    this.draw();
    this.deviation = sampled ? await this.load('deviation') : null;
    if (this.job === job) this.draw();
  }

  listNames(job) {
    const names = [['mean', 'Best guess']];
    if (job.report.simulated) names.push(['image', 'The truth']);
    if (!job.report.quick) for (let k = 1; k <= job.samples; ++k) names.push([`sample-${k}`, `Sample ${k}`]);
    names.push(['low', 'Dark end'], ['high', 'Bright end']);
    return names.filter(([name]) => job.files?.includes(`${name}.png`));
  }

  showStrip() {
    at('strip').hidden = this.names.length < 2;
    at('strip').replaceChildren(...this.names.map(([name, words], k) => element('label', {},
      element('input', {type: 'radio', name: 'shown', value: name, checked: k === 0}),
      element('img', {src: api.address(`restorations/${this.job.id}/files/${name}.png`), alt: '', loading: 'lazy'}),
      element('span', {}, words))));
  }

  showWords(job) {
    const {report, id} = job;
    const {kind, words} = verdict(report);
    at('verdict').textContent = words;
    at('verdict').className = `verdict ${kind}`;
    const said = [...(report.findings ?? [])];
    // Where findings say what is wrong, words on chi2 that was fitted add nothing.
    if (kind === 'failed' && !(said.length && report.noise?.estimated)) said.push(report.words);
    at('findings').replaceChildren(...said.map((one) => element('li', {}, one)));
    at('numbers').replaceChildren(...[...numbers(report), ['In words', report.words]].flatMap(([name, value]) =>
      [element('dt', {}, name), element('dd', {}, String(value))]));
    at('files').replaceChildren(...(job.files ?? []).map((name) => element('li', {},
      element('a', {href: api.address(`restorations/${id}/files/${name}`), download: name}, name))));
    const stem = job.name.replace(/\.\w+$/, '');
    at('mean-png').href = api.address(`restorations/${id}/files/mean.png`);
    at('mean-png').download = `${stem}-restored.png`;
    at('zip').href = api.address(`restorations/${id}/result.zip`);
    at('zip').download = `${stem}-restored.zip`;
    const white = report.deviation_of_white;
    at('heat-legend').textContent = white ? `up to ±${(127.5 * white).toFixed(0)}` : '';
  }

  async showOne(name) {
    this.morph(false);
    this.leaveAll();
    const {job} = this;
    const image = await this.load(name);
    if (this.job !== job || chosen('shown') !== name) return;
    if (!image) return complain(`${name}.png cannot be read.`);
    this.shown = image;
    this.draw();
  }

  // One picture is looked at: no longer all samples.
  leaveAll() {
    if (chosen('arrange') === 'all') choose('arrange', 'divider');
  }

  async samples() {
    const names = this.names.filter(([name]) => name.startsWith('sample-')).slice(0, kMostPanes);
    const images = await Promise.all(names.map(([name]) => this.load(name)));
    return images.map((image, k) => ({image, label: names[k][1]})).filter(({image}) => image);
  }

  // Fades from sample to sample, round and round.
  async morph(on) {
    this.morphing = on;
    at('morph').setAttribute('aria-pressed', String(on));
    at('morph').textContent = on ? 'Stop the morph' : 'Morph between samples';
    this.fade = null;
    if (!on) return void (this.job && this.draw());
    this.leaveAll();
    const samples = await this.samples();
    const begin = performance.now();
    const step = (now) => {
      if (!this.morphing || samples.length < 2) return;
      const at = Math.max(0, now - begin) / kFade, k = Math.floor(at);
      // Half of the time a sample stands still.
      const t = Math.min(1, Math.max(0, 2 * (at - k) - 1));
      this.fade = {from: samples[k % samples.length].image, to: samples[(k + 1) % samples.length].image, t: t * t * (3 - 2 * t)};
      this.draw();
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  // Returns the layers of the picture after the restoration, right of a fraction of the width.
  after(image, from = 0) {
    const layers = this.fade
      ? [{image: this.fade.from, from}, {image: this.fade.to, alpha: this.fade.t, from}]
      : [{image, from}];
    if (at('heat').checked && this.deviation) {
      const strength = at('heat-strength').value / 100;
      layers.push({fill: '#000', alpha: .65 * strength, from}, {image: this.deviation, blend: 'lighter', alpha: strength, from});
    }
    return layers;
  }

  async draw() {
    const arrange = this.complete ? chosen('arrange') : 'divider';
    at('divider-part').hidden = arrange !== 'divider' || !this.shown;
    at('heat-slide').hidden = !at('heat').checked;
    const count = this.stage.panes.length;
    if (arrange === 'all') {
      const samples = await this.samples();
      if (chosen('arrange') !== 'all') return;
      this.stage.panes = samples.map(({image, label}) => ({label, layers: this.after(image)}));
    } else if (arrange === 'beside') {
      const label = at('strip').querySelector(':checked ~ span')?.textContent ?? 'After';
      this.stage.panes = [{label: 'Before', layers: [{image: this.before}]}, {label, layers: this.after(this.shown)}];
    } else {
      const from = this.shown ? at('divider').value / 100 : 1;
      const after = this.shown ? this.after(this.shown, from) : [];
      this.stage.panes = [{layers: [{image: this.before}, ...after], divided: Boolean(this.shown)}];
    }
    if (count !== this.stage.panes.length && this.stage.fitted) this.stage.fit();
    this.stage.draw();
  }

  drawDivider(context, corner, pane, frame) {
    if (!pane.divided) return;
    const width = this.stage.size.width * this.stage.scale, height = this.stage.size.height * this.stage.scale;
    const x = corner.x + at('divider').value / 100 * width;
    const top = Math.max(frame.top, corner.y), bottom = Math.min(frame.top + frame.height, corner.y + height);
    context.fillStyle = '#0006';
    context.fillRect(x - 1.5, top, 3, bottom - top);
    context.fillStyle = '#fff';
    context.fillRect(x - .75, top, 1.5, bottom - top);
    const middle = (top + bottom) / 2;
    context.beginPath();
    context.arc(x, middle, 11, 0, 7);
    context.fill();
    context.fillStyle = '#333';
    for (const side of [-1, 1]) {
      context.beginPath();
      context.moveTo(x + side * 7, middle);
      context.lineTo(x + side * 3, middle - 4);
      context.lineTo(x + side * 3, middle + 4);
      context.fill();
    }
  }

  tool() {
    const {stage} = this;
    const fraction = (p) => p.x / stage.size.width;
    const near = (p) => stage.panes[0]?.divided && Math.abs(fraction(p) - at('divider').value / 100) * stage.size.width * stage.scale < 14;
    const read = (p) => { if (stage.inside(p)) this.pixel.read(Math.floor(p.x), Math.floor(p.y)); };
    return {
      down: (p) => {
        read(p);
        return near(p);
      },
      move: (p) => {
        at('divider').value = 100 * fraction(p);
        this.draw();
      },
      hover: (p) => {
        stage.canvas.style.cursor = near(p) ? 'col-resize' : 'grab';
        read(p);
      },
      step: read,
    };
  }
}
