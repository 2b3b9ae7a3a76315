// Arrays of NumPy as pictures: values in [-1, 1], or bytes, of H x W, C x H x W or 1 x C x H x W.

const kTypes = {
  '<f4': [Float32Array, 1], '<f8': [Float64Array, 1], '|u1': [Uint8Array, 0],
};

function refuse(name, what) {
  throw new Error(`${name}: ${what}; arrays of float32, float64 or uint8 are wanted, of one grey or three colour channels`);
}

// Returns type, shape and the place of the values, as the header of the file says.
function header(bytes, name) {
  if (bytes[0] !== 0x93 || String.fromCharCode(...bytes.subarray(1, 6)) !== 'NUMPY') refuse(name, 'no array that can be read');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const wide = bytes[6] > 1, start = wide ? 12 : 10;
  const length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const words = new TextDecoder('latin1').decode(bytes.subarray(start, start + length));
  const type = /'descr':\s*'([^']*)'/.exec(words)?.[1];
  const shape = /'shape':\s*\(([^)]*)\)/.exec(words)?.[1].split(',').filter((one) => one.trim()).map(Number);
  if (!kTypes[type] || !shape || /'fortran_order':\s*True/.test(words)) refuse(name, `an array of ${type}`);
  return {type, shape, begin: start + length};
}

// Returns the picture of an array, as a canvas.
export function drawArray(buffer, name) {
  const {type, shape, begin} = header(new Uint8Array(buffer), name);
  while (shape.length > 3 && shape[0] === 1) shape.shift();
  const [channels, height, width] = shape.length === 2 ? [1, ...shape] : shape;
  if (shape.length > 3 || !width || (channels !== 1 && channels !== 3)) refuse(name, `an array of ${shape.join(' × ')}`);
  const [Values, units] = kTypes[type];
  const size = channels * height * width;
  if (buffer.byteLength < begin + size * Values.BYTES_PER_ELEMENT) refuse(name, 'the array is cut off');
  const values = new Values(buffer.slice(begin), 0, size);
  const image = new ImageData(width, height);
  for (let k = 0; k < width * height; ++k) {
    for (let c = 0; c < 3; ++c) {
      const value = values[(channels === 3 ? c * width * height : 0) + k];
      image.data[4 * k + c] = units ? (value + 1) * 127.5 : value;
    }
    image.data[4 * k + 3] = 255;
  }
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}
