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

// Returns the picture of a restoration again, and the mask that it had.
export async function openAgain(job) {
  const blob = await api.bytes(`restorations/${job.id}/files/image.png`);
  const picture = await open(new File([blob], /\.png$/i.test(job.name) ? job.name : `${job.name}.png`, {type: 'image/png'}));
  return {...picture, mask: job.files.includes('mask.png') ? await api.file(job.id, 'mask.png') : null};
}

// Returns the picture of a draft.
export const openKept = async ({demo, file, name, note}) =>
  (demo ? openDemo({name: demo}) : {...await open(file), name, note});

// Returns a sentence about a picture that the server would refuse, or nothing.
export function tooLarge(picture, {pixels = Infinity, body_bytes: bytes = Infinity}) {
  if (picture.width * picture.height > pixels)
    return `The picture has ${(picture.width * picture.height / 1e6).toFixed(0)} million pixels; `
      + `this server takes ${(pixels / 1e6).toFixed(0)} million.`;
  const size = picture.file?.size ?? 0;
  return size > 0.98 * bytes
    ? `The file has ${(size / 1048576).toFixed(0)} MiB; this server takes ${(bytes / 1048576).toFixed(0)} MiB (eps serve --most-mib).` : '';
}
