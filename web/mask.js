// The mask of a picture: which pixels are wrong, every stroke exact to the pixel and undoable.
import {greyPng} from './png.js';

const kMostKept = 64e6;  // bytes of strokes that can be undone

export class Mask {
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.painted = new Uint8Array(width * height);  // 1: wrong
    this.count = 0;
    this.past = [];
    this.future = [];
    this.shown = new OffscreenCanvas(width, height);
    this.context = this.shown.getContext('2d');
  }

  // Begins a change; all until commit() is undone together.
  begin() {
    this.before = this.painted.slice();
    this.changed = {left: this.width, top: this.height, right: 0, bottom: 0};
  }

  commit() {
    if (!this.before) return;
    const box = this.changed;
    if (box.right > box.left && box.bottom > box.top) {
      this.past.push({box, before: this.part(this.before, box), after: this.part(this.painted, box)});
      this.future = [];
      let kept = 0;
      this.past = this.past.reverse().filter((one) => (kept += 2 * one.after.length) < kMostKept).reverse();
    }
    this.before = null;
  }

  // Paints (1) or erases (0) all pixels whose centre is within diameter/2 of the line between the
  // centres of two pixels.
  stroke(from, to, diameter, value) {
    const reach = diameter / 2, square = reach * reach;
    const [ax, ay, bx, by] = [from.x, from.y, to.x, to.y].map(Math.floor);
    const dx = bx - ax, dy = by - ay, length = dx * dx + dy * dy;
    this.eachRow(Math.min(ax, bx) - reach, Math.min(ay, by) - reach, Math.max(ax, bx) + reach, Math.max(ay, by) + reach,
      (x, y) => {
        const t = length ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
        const ex = x - ax - t * dx, ey = y - ay - t * dy;
        return ex * ex + ey * ey <= square;
      }, value);
  }

  // Paints or erases a rectangle, both corners included.
  rectangle(from, to, value) {
    const [ax, ay, bx, by] = [from.x, from.y, to.x, to.y].map(Math.floor);
    this.eachRow(Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by), () => true, value);
  }

  eachRow(left, top, right, bottom, inside, value) {
    const box = {
      left: Math.max(0, Math.floor(left)), top: Math.max(0, Math.floor(top)),
      right: Math.min(this.width, Math.ceil(right) + 1), bottom: Math.min(this.height, Math.ceil(bottom) + 1),
    };
    for (let y = box.top; y < box.bottom; ++y)
      for (let x = box.left; x < box.right; ++x) {
        const at = y * this.width + x;
        if (this.painted[at] === value || !inside(x, y)) continue;
        this.painted[at] = value;
        this.count += value ? 1 : -1;
      }
    this.touch(box);
  }

  // Replaces all of it: by a function of the index of each pixel.
  replace(value) {
    this.begin();
    this.count = 0;
    for (let k = 0; k < this.painted.length; ++k) this.count += this.painted[k] = value(k) ? 1 : 0;
    this.touch({left: 0, top: 0, right: this.width, bottom: this.height});
    this.commit();
  }
  clear() { this.replace(() => false); }
  invert() { this.replace((k) => !this.painted[k]); }

  // Takes the mask of a picture of the same size, which is wrong where it is darker than grey.
  load(bitmap) {
    if (bitmap.width !== this.width || bitmap.height !== this.height)
      throw new Error(`the mask has ${bitmap.width} × ${bitmap.height} pixels, and the picture ${this.width} × ${this.height}`);
    const canvas = new OffscreenCanvas(this.width, this.height);
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const {data} = context.getImageData(0, 0, this.width, this.height);
    this.replace((k) => data[4 * k + 3] < 128 || data[4 * k] + data[4 * k + 1] + data[4 * k + 2] < 384);
  }

  undo() { this.move(this.past, this.future, 'before'); }
  redo() { this.move(this.future, this.past, 'after'); }

  move(from, to, which) {
    const change = from.pop();
    if (!change) return;
    to.push(change);
    const {box} = change, width = box.right - box.left;
    for (let y = box.top; y < box.bottom; ++y)
      this.painted.set(change[which].subarray((y - box.top) * width, (y - box.top + 1) * width), y * this.width + box.left);
    this.count = this.painted.reduce((sum, one) => sum + one, 0);
    this.touch(box);
  }

  part(values, box) {
    const width = box.right - box.left;
    const copy = new Uint8Array(width * (box.bottom - box.top));
    for (let y = box.top; y < box.bottom; ++y)
      copy.set(values.subarray(y * this.width + box.left, y * this.width + box.right), (y - box.top) * width);
    return copy;
  }

  // Draws a changed part again, and notes that it changed.
  touch(box) {
    const width = box.right - box.left, height = box.bottom - box.top;
    if (width <= 0 || height <= 0) return;
    if (this.before && this.changed) {
      this.changed.left = Math.min(this.changed.left, box.left);
      this.changed.top = Math.min(this.changed.top, box.top);
      this.changed.right = Math.max(this.changed.right, box.right);
      this.changed.bottom = Math.max(this.changed.bottom, box.bottom);
    }
    const pixels = new Uint32Array(width * height);
    for (let y = 0; y < height; ++y)
      for (let x = 0; x < width; ++x)
        if (this.painted[(y + box.top) * this.width + x + box.left]) pixels[y * width + x] = 0xb0702dff;  // red, as ABGR
    this.context.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), width, height), box.left, box.top);
  }

  // Returns the picture that eps takes: white where the photo is right, black where it is wrong.
  file() {
    return greyPng(this.painted.map((one) => (one ? 0 : 255)), this.width, this.height);
  }
}
