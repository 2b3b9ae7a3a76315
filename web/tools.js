// The tools with which one shows eps something on the picture: a mask, a line, a patch.

// Strokes an outline that can be seen on any picture.
function outline(context, path) {
  for (const [colour, width] of [['#000b', 3], ['#fff', 1.25]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    path(context);
    context.stroke();
  }
}

const box = (a, b) => ({
  left: Math.floor(Math.min(a.x, b.x)), top: Math.floor(Math.min(a.y, b.y)),
  right: Math.floor(Math.max(a.x, b.x)) + 1, bottom: Math.floor(Math.max(a.y, b.y)) + 1,
});

function outlineBox(context, corner, scale, b) {
  outline(context, (c) =>
    c.rect(corner.x + b.left * scale, corner.y + b.top * scale, (b.right - b.left) * scale, (b.bottom - b.top) * scale));
}

// Paints a mask with brush, eraser or rectangle. state: {mask, kind, size}; `changed` is called
// after each change.
export function paintTool(stage, state, changed) {
  let last = null, first = null, over = null, pen = false;
  const value = () => (state.kind === 'eraser' ? 0 : 1);
  const begin = (p) => {
    state.mask.begin();
    first = last = p;
    if (state.kind !== 'rectangle') state.mask.stroke(p, p, state.size, value());
    stage.draw();
  };
  const go = (p) => {
    over = p;
    if (!last) return;
    if (state.kind !== 'rectangle') state.mask.stroke(last, p, state.size, value());
    last = p;
    stage.draw();
  };
  const end = () => {
    if (!last) return;
    if (state.kind === 'rectangle') state.mask.rectangle(first, last, 1);
    state.mask.commit();
    first = last = null;
    pen = false;
    stage.draw();
    changed();
  };
  return {
    down(p) {
      if (state.kind === 'hand') return false;
      begin(p);
      return true;
    },
    move: go,
    up: end,
    cancel() {  // a second finger came: nothing of the stroke stays
      const painted = last && state.kind !== 'rectangle';
      last = first = null;
      state.mask.commit();
      if (painted) state.mask.undo();
      stage.draw();
    },
    hover(p) {
      over = p;
      stage.draw();
    },
    leave() {
      over = null;
      stage.draw();
    },
    step(p) { if (pen) go(p); else over = null; },
    key(event, cursor) {
      if (event.key !== ' ' || state.kind === 'hand') return false;
      stage.cursor = cursor;
      if (pen) end();
      else {
        begin(cursor);
        pen = true;
      }
      return true;
    },
    draw(context, corner, scale) {
      if (first && state.kind === 'rectangle') return outlineBox(context, corner, scale, box(first, last));
      const at = over && stage.inside(over) ? over : stage.cursor;
      if (!at || state.kind === 'hand' || state.kind === 'rectangle') return;
      const x = corner.x + (Math.floor(at.x) + .5) * scale, y = corner.y + (Math.floor(at.y) + .5) * scale;
      outline(context, (c) => c.arc(x, y, Math.max(2, state.size / 2 * scale), 0, 7));
    },
  };
}

// Calls drag(from, to, done) while a line or a patch is drawn, by pointer or by keyboard.
function dragTool(stage, drag) {
  let from = null;
  return {
    down(p) {
      from = p;
      drag(from, p, false);
      return true;
    },
    move(p) { drag(from, p, false); },
    up(p) {
      drag(from, p, true);
      from = null;
    },
    cancel() { from = null; },
    step(p) { if (from) drag(from, p, false); },
    key(event, cursor) {
      if (event.key !== ' ') return false;
      stage.cursor = cursor;
      drag(from ?? cursor, cursor, Boolean(from));
      from = from ? null : cursor;
      return true;
    },
  };
}

// Draws the line of a movement. line: {x, y, length, angle}, its middle in pixels, its angle in
// degrees, counter-clockwise.
export function lineTool(stage, line, changed) {
  const tool = dragTool(stage, (from, to, done) => {
    const dx = to.x - from.x, dy = to.y - from.y;
    line.x = (from.x + to.x) / 2;
    line.y = (from.y + to.y) / 2;
    line.length = Math.min(99, Math.max(1, Math.round(Math.hypot(dx, dy))));
    if (dx || dy) line.angle = Math.round(-Math.atan2(dy, dx) * 180 / Math.PI);
    changed(done);
    stage.draw();
  });
  tool.draw = (context, corner, scale) => {
    const turn = -line.angle * Math.PI / 180, half = line.length / 2 * scale;
    const x = corner.x + (line.x ?? stage.size.width / 2) * scale, y = corner.y + (line.y ?? stage.size.height / 2) * scale;
    const dx = Math.cos(turn) * half, dy = Math.sin(turn) * half;
    outline(context, (c) => {
      c.moveTo(x - dx, y - dy);
      c.lineTo(x + dx, y + dy);
      for (const side of [-1, 1]) {
        c.moveTo(x + side * dx + 4, y + side * dy);
        c.arc(x + side * dx, y + side * dy, 4, 0, 7);
      }
    });
  };
  return tool;
}

// Draws the patch of which the noise is read. patch: {box} in whole pixels.
export function patchTool(stage, patch, changed) {
  const tool = dragTool(stage, (from, to, done) => {
    const b = box(from, to);
    patch.box = {
      left: Math.max(0, b.left), top: Math.max(0, b.top),
      right: Math.min(stage.size.width, b.right), bottom: Math.min(stage.size.height, b.bottom),
    };
    if (done) changed();
    stage.draw();
  });
  tool.draw = (context, corner, scale) => {
    if (patch.box) outlineBox(context, corner, scale, patch.box);
  };
  return tool;
}
