// What the samples say of one pixel: its 90% interval, and a histogram of them.
import * as api from './api.js';
import {at, drawing} from './dom.js';

const kWidth = 256, kHeight = 34, kBins = 64;
const kLeastReach = 40;  // grey levels
const kNames = {1: ['grey'], 3: ['red', 'green', 'blue']};

export class Pixel {
  open(job) {
    this.job = job;
    at('pixel-words').textContent = 'Point at the picture.';
    at('pixel-plots').replaceChildren();
  }

  close() { this.job = null; }

  // Reads a pixel; while one is asked for, only the last of those that follow is kept.
  async read(x, y) {
    if (!this.job) return;
    this.next = {x, y};
    if (this.asking) return;
    this.asking = true;
    while (this.job && this.next) {
      const {job, next} = this;
      this.next = null;
      const read = await api.pixel(job.id, next.x, next.y).catch(() => null);
      if (read && this.job === job) this.show(next, read.channels);
    }
    this.asking = false;
  }

  show({x, y}, channels) {
    const names = kNames[channels.length] ?? channels.map((_, k) => `channel ${k + 1}`);
    const said = channels.map((one, k) => `${names[k]} ${one.low.toFixed(0)} to ${one.high.toFixed(0)}`);
    at('pixel-words').textContent = `At ${x}, ${y} the true value lies, with 90% probability, in ${said.join(', ')}.`;
    const range = reach(channels);
    at('pixel-plots').replaceChildren(...channels.map((one, k) => plot(one, names[k], range)));
  }
}

// Returns the grey levels that plots of all channels reach over: their samples and intervals.
function reach(channels) {
  const ends = channels.flatMap((one) => [one.low, one.high, ...one.samples]);
  const low = Math.min(...ends), high = Math.max(...ends);
  const margin = Math.max(3, (kLeastReach - (high - low)) / 2);
  return {low: Math.max(0, Math.floor(low - margin)), high: Math.min(255, Math.ceil(high + margin))};
}

// Draws the samples of a channel as columns, over their interval and their mean.
function plot(channel, name, {low, high}) {
  const column = kWidth / kBins, counts = new Array(kBins).fill(0);
  const across = (value) => (value - low) / (high - low) * kWidth;
  for (const value of channel.samples) ++counts[Math.min(kBins - 1, Math.max(0, Math.floor(across(value) / column)))];
  const tall = Math.min(8, (kHeight - 2) / Math.max(...counts)), mean = across(channel.mean);
  const words = (x, anchor, text) => drawing('text', {x, y: kHeight + 10, 'text-anchor': anchor}, text);
  const low90 = across(channel.low), high90 = across(channel.high);
  const said = `${name}: mean ${channel.mean.toFixed(0)}, 90% from ${channel.low.toFixed(0)} to `
    + `${channel.high.toFixed(0)}, ${channel.samples.length} samples`;
  return drawing('svg', {
    class: 'histogram', viewBox: `0 0 ${kWidth} ${kHeight + 12}`, role: 'img',
    'aria-label': said,
  },
  drawing('rect', {class: 'interval', x: low90, y: 0, width: Math.max(1, high90 - low90), height: kHeight}),
  drawing('line', {class: 'axis', x1: 0, x2: kWidth, y1: kHeight, y2: kHeight}),
  ...counts.map((count, k) => count && drawing('rect', {
    class: name, x: k * column + .25, width: column - .5, y: kHeight - count * tall, height: count * tall,
  })).filter(Boolean),
  drawing('line', {class: 'mean', x1: mean, x2: mean, y1: 0, y2: kHeight}),
  words(0, 'start', low), words(kWidth, 'end', high),
  words(kWidth / 2, 'middle', `${name} ${channel.mean.toFixed(0)} ± ${channel.deviation.toFixed(1)}`));
}
