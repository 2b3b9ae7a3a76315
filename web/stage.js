// A stage shows pictures that are zoomed and moved in step, takes strokes on them, and has a cursor
// of its own for those who have no pointer.
import {element} from './dom.js';

const kMostZoom = 64;

export class Stage {
  // panes: each {label, layers: [{image, alpha, blend, from, to}]}; the layer is shown between the
  // fractions `from` and `to` of the pane's width.
  constructor(canvas, bar) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.panes = [];
    this.size = {width: 1, height: 1};
    this.cursor = null;       // of the keyboard, in pixels of the picture
    this.tool = null;         // {down, move, up, hover, leave, key, cursor}; points are of the picture
    this.overlay = null;      // draws over each pane: (context, place, pane)
    this.pointers = new Map();
    this.fitted = true;
    new ResizeObserver(() => this.resize()).observe(canvas);
    addEventListener('themechange', () => this.draw());
    this.listen();
    if (bar) this.addButtons(bar);
  }

  addButtons(bar) {
    const add = (words, name, act) =>
      bar.append(element('button', {type: 'button', 'aria-label': name, title: name, onclick: act}, words));
    add('−', 'Zoom out', () => this.zoom(1 / 1.5));
    add('Fit', 'Show all', () => this.fit());
    add('1:1', 'One pixel to one pixel', () => this.zoomTo(1 / devicePixelRatio));
    add('+', 'Zoom in', () => this.zoom(1.5));
  }

  // Sets the size of the picture; another size shows all of it.
  setSize(width, height) {
    if (width === this.size.width && height === this.size.height) return;
    this.size = {width, height};
    this.cursor = null;
    this.fit();
  }

  resize() {
    const {clientWidth, clientHeight} = this.canvas;
    if (!clientWidth || !clientHeight) return;
    this.canvas.width = Math.round(clientWidth * devicePixelRatio);
    this.canvas.height = Math.round(clientHeight * devicePixelRatio);
    if (this.fitted) this.fit();
    this.draw();
  }

  // Returns the rectangles of the panes, in pixels of the page.
  frames() {
    const {clientWidth: width, clientHeight: height} = this.canvas;
    const count = Math.max(1, this.panes.length);
    let columns = 1, best = 0;
    for (let k = 1; k <= count; ++k) {
      const rows = Math.ceil(count / k);
      const scale = Math.min(width / k / this.size.width, height / rows / this.size.height);
      if (scale > best) [best, columns] = [scale, k];
    }
    const rows = Math.ceil(count / columns);
    return Array.from({length: count}, (_, k) => ({
      left: (k % columns) * width / columns, top: Math.floor(k / columns) * height / rows,
      width: width / columns, height: height / rows,
    }));
  }

  fit() {
    const [frame] = this.frames();
    const {width, height} = this.size;
    this.scale = Math.max(1e-3, Math.min((frame.width - 32) / width, (frame.height - 32) / height, kMostZoom));
    this.centre = {x: width / 2, y: height / 2};
    this.fitted = true;
    this.draw();
  }

  zoomTo(scale, about = this.cursor ?? this.centre) {
    const next = Math.min(kMostZoom, Math.max(0.02, scale)), ratio = this.scale / next;
    this.centre = {x: about.x + (this.centre.x - about.x) * ratio, y: about.y + (this.centre.y - about.y) * ratio};
    this.scale = next;
    this.fitted = false;
    this.draw();
  }
  zoom(factor, about) { this.zoomTo(this.scale * factor, about); }

  pan(dx, dy) {
    const within = (value, most) => Math.min(most, Math.max(0, value));
    this.centre = {
      x: within(this.centre.x - dx / this.scale, this.size.width),
      y: within(this.centre.y - dy / this.scale, this.size.height),
    };
    this.fitted = false;
    this.draw();
  }

  // Returns where the corner of the picture lies in a frame.
  place(frame) {
    return {
      x: frame.left + frame.width / 2 - this.centre.x * this.scale,
      y: frame.top + frame.height / 2 - this.centre.y * this.scale,
    };
  }

  // Returns the point of the picture under a point of the page.
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const px = event.clientX - box.left, py = event.clientY - box.top;
    const frames = this.frames();
    const pane = Math.max(0, frames.findIndex((f) =>
      px >= f.left && px < f.left + f.width && py >= f.top && py < f.top + f.height));
    const corner = this.place(frames[pane]);
    return {x: (px - corner.x) / this.scale, y: (py - corner.y) / this.scale, pane};
  }

  inside(p) { return p.x >= 0 && p.y >= 0 && p.x < this.size.width && p.y < this.size.height; }

  // Draws at the next frame, once.
  draw() {
    this.drawing ??= requestAnimationFrame(() => {
      this.drawing = null;
      this.drawNow();
    });
  }

  drawNow() {
    const {context: c, canvas} = this;
    if (!canvas.clientWidth) return;
    const style = getComputedStyle(canvas);
    c.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    c.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    c.imageSmoothingQuality = 'high';
    const frames = this.frames();
    this.panes.forEach((pane, k) => this.drawPane(pane, frames[k], style));
  }

  drawPane(pane, frame, style) {
    const {context: c} = this, corner = this.place(frame);
    const width = this.size.width * this.scale, height = this.size.height * this.scale;
    c.save();
    c.beginPath();
    c.rect(frame.left, frame.top, frame.width, frame.height);
    c.clip();
    for (const layer of pane.layers) {
      if (!layer.image && !layer.fill) continue;
      c.save();
      const from = layer.from ?? 0, to = layer.to ?? 1;
      c.beginPath();
      c.rect(corner.x + from * width, corner.y, (to - from) * width, height);
      c.clip();
      c.globalAlpha = layer.alpha ?? 1;
      c.globalCompositeOperation = layer.blend ?? 'source-over';
      c.fillStyle = layer.fill ?? '#000';
      // From two screen pixels on for one of the layer, its pixels are shown as squares.
      c.imageSmoothingEnabled = layer.fill || width * devicePixelRatio < 2 * layer.image.width;
      if (layer.fill) c.fillRect(corner.x, corner.y, width, height);
      else c.drawImage(layer.image, corner.x, corner.y, width, height);
      c.restore();
    }
    this.overlay?.(c, corner, pane, frame, style);
    if (this.cursor && document.activeElement === this.canvas) this.drawCursor(corner);
    if (pane.label) this.drawLabel(pane.label, frame);
    c.restore();
  }

  drawLabel(label, frame) {
    const {context: c} = this;
    c.font = '600 12px system-ui, sans-serif';
    const width = c.measureText(label).width + 16;
    c.fillStyle = '#000a';
    c.beginPath();
    c.roundRect(frame.left + 8, frame.top + 8, width, 22, 11);
    c.fill();
    c.fillStyle = '#fff';
    c.fillText(label, frame.left + 16, frame.top + 23);
  }

  drawCursor(corner) {
    const {context: c} = this;
    const x = corner.x + (Math.floor(this.cursor.x) + .5) * this.scale, y = corner.y + (Math.floor(this.cursor.y) + .5) * this.scale;
    for (const [colour, width] of [['#000', 3], ['#fff', 1.5]]) {
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.beginPath();
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        c.moveTo(x + 5 * dx, y + 5 * dy);
        c.lineTo(x + 16 * dx, y + 16 * dy);
      }
      c.stroke();
    }
  }

  listen() {
    const {canvas} = this;
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      const step = event.deltaMode ? event.deltaY * 30 : event.deltaY;
      this.zoom(Math.exp(-step / (event.ctrlKey ? 100 : 400)), this.point(event));
    }, {passive: false});
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, (event) => this.up(event));
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());  // its button moves
    canvas.addEventListener('pointerleave', () => this.tool?.leave?.());
    canvas.addEventListener('keydown', (event) => this.key(event));
    for (const name of ['focus', 'blur']) canvas.addEventListener(name, () => this.draw());
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    this.cursor = null;
    // A second finger zooms; what the first one began is given up.
    if (this.pointers.size === 2 && this.active) {
      this.active = false;
      this.tool?.cancel?.();
    }
    const p = this.point(event);
    if (this.pointers.size === 1 && event.button === 0 && this.tool?.down?.(p, event)) this.active = true;
  }

  move(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) return void this.tool?.hover?.(this.point(event));
    if (this.active) {
      // The points between two frames belong to a stroke, too.
      for (const one of event.getCoalescedEvents?.() ?? [event]) this.tool.move?.(this.point(one), one);
    } else if (this.pointers.size === 1) {
      this.pan(event.clientX - last.x, event.clientY - last.y);
    } else {
      this.pinch(event, last);
    }
    this.pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
  }

  pinch(event, last) {
    const [, other] = [...this.pointers].find(([id]) => id !== event.pointerId);
    const distance = (p) => Math.hypot(p.x - other.x, p.y - other.y);
    const middle = this.point({clientX: (event.clientX + other.x) / 2, clientY: (event.clientY + other.y) / 2});
    this.pan((event.clientX - last.x) / 2, (event.clientY - last.y) / 2);
    this.zoom(distance({x: event.clientX, y: event.clientY}) / Math.max(1, distance(last)), middle);
  }

  up(event) {
    if (this.active && this.pointers.has(event.pointerId)) {
      this.active = false;
      this.tool?.up?.(this.point(event), event);
    }
    this.pointers.delete(event.pointerId);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (steps) this.step(steps, event.shiftKey ? 10 : 1);
    else if (event.key === '+' || event.key === '=') this.zoom(1.5);
    else if (event.key === '-') this.zoom(1 / 1.5);
    else if (event.key === '0') this.fit();
    else if (!this.tool?.key?.(event, this.cursor ?? {...this.centre})) return;
    event.preventDefault();
  }

  // Moves the cursor of the keyboard, and the view so that it stays in sight.
  step([dx, dy], count) {
    const within = (value, most) => Math.min(most - 1, Math.max(0, Math.floor(value))) + .5;
    const from = this.cursor ?? this.centre;
    this.cursor = {x: within(from.x + dx * count, this.size.width), y: within(from.y + dy * count, this.size.height)};
    const [frame] = this.frames(), corner = this.place(frame);
    const x = corner.x + this.cursor.x * this.scale, y = corner.y + this.cursor.y * this.scale;
    const out = (value, low, high) => Math.max(0, low + 24 - value) + Math.min(0, high - 24 - value);
    const px = out(x, frame.left, frame.left + frame.width), py = out(y, frame.top, frame.top + frame.height);
    if (px || py) this.pan(px, py);
    this.tool?.step?.({...this.cursor, pane: 0});
    this.draw();
  }
}
