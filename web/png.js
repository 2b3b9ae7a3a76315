// A writer of grey PNG pictures of 8 bits. A canvas could write them as well, but some browsers
// alter what is read from a canvas to hide who they are; a mask must be exact to the pixel.

const kTable = Uint32Array.from({length: 256}, (_, byte) => {
  for (let k = 0; k < 8; ++k) byte = byte & 1 ? 0xedb88320 ^ (byte >>> 1) : byte >>> 1;
  return byte >>> 0;
});

function crc(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = kTable[(sum ^ byte) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

// Returns length, name, contents and check sum of a chunk.
function chunk(name, contents) {
  const bytes = new Uint8Array(contents.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, contents.length);
  for (let k = 0; k < 4; ++k) bytes[4 + k] = name.charCodeAt(k);
  bytes.set(contents, 8);
  view.setUint32(contents.length + 8, crc(bytes.subarray(4, contents.length + 8)));
  return bytes;
}

async function deflate(bytes) {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

// Returns a PNG of grey levels, row by row.
export async function greyPng(levels, width, height) {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = 8;  // bits; colour type 0 is grey
  const rows = new Uint8Array((width + 1) * height);  // each after its filter, none
  for (let y = 0; y < height; ++y)
    rows.set(levels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const signature = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);
  const parts = [chunk('IHDR', header), chunk('IDAT', await deflate(rows)), chunk('IEND', new Uint8Array(0))];
  return new Blob([signature, ...parts], {type: 'image/png'});
}
