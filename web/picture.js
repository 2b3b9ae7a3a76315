// The picture that a user gives: its file as it is, and its pixels to look at.
import * as api from './api.js';
import {drawArray} from './npy.js';

// The formats that eps reads; others are turned into PNG by the browser, which can show them.
const kRead = ['image/png', 'image/jpeg'];

async function asPng(bitmap) {
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext('2d').drawImage(bitmap, 0, 0);
  return canvas.convertToBlob({type: 'image/png'});
}

// Returns {file, name, bitmap, width, height, note} of a file that was dropped, pasted or chosen.
export async function open(file) {
  const name = file.name || 'pasted.png';
  const picture = {file, name};
  if (name.toLowerCase().endsWith('.npy')) {
    picture.bitmap = drawArray(await file.arrayBuffer(), name);
    picture.note = 'An array.';
  } else {
    picture.bitmap = await createImageBitmap(file).catch(() => {
      throw new Error(`${name}: no picture that can be read; a PNG or JPEG is wanted`);
    });
    if (!kRead.includes(file.type)) {
      picture.file = await asPng(picture.bitmap);
      picture.name = name.replace(/\.\w+$/, '') + '.png';
      picture.note = 'Turned into a PNG.';
    }
  }
  picture.width = picture.bitmap.width;
  picture.height = picture.bitmap.height;
  return picture;
}

// Returns a picture that comes with eps; the server has its file.
export async function openDemo(demo) {
  const bitmap = await api.picture(`demo/${encodeURIComponent(demo.name)}.png`);
  return {demo: demo.name, name: demo.name, bitmap, width: bitmap.width, height: bitmap.height};
}

// Returns the picture of a restoration again.
export async function openAgain(job) {
  const blob = await api.bytes(`restorations/${job.id}/files/image.png`);
  return open(new File([blob], /\.png$/i.test(job.name) ? job.name : `${job.name}.png`, {type: 'image/png'}));
}
