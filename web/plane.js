// Mixtures of Gaussians in the plane: their moments, their density as shading, and dots.

// Returns mean and covariance of points.
export function moments(points) {
  const mean = [0, 1].map((k) => points.reduce((sum, p) => sum + p[k], 0) / points.length);
  const covariance = [0, 1].map((i) => [0, 1].map((j) =>
    points.reduce((sum, p) => sum + (p[i] - mean[i]) * (p[j] - mean[j]), 0) / Math.max(1, points.length - 1)));
  return {mean, covariance};
}

// Returns mean and covariance of a mixture.
export function ellipseOf(components) {
  const mean = [0, 1].map((k) => components.reduce((sum, c) => sum + c.weight * c.mean[k], 0));
  const covariance = [0, 1].map((i) => [0, 1].map((j) => components.reduce((sum, c) =>
    sum + c.weight * (c.covariance[i][j] + (c.mean[i] - mean[i]) * (c.mean[j] - mean[j])), 0)));
  return {mean, covariance};
}

// Returns how far from 0 a mixture reaches, in either direction.
export function extent(components) {
  return Math.max(...components.flatMap((c) => [0, 1].map((k) => Math.abs(c.mean[k]) + 2.6 * Math.sqrt(c.covariance[k][k]))));
}

function density(components) {
  const parts = components.map(({weight, mean, covariance: [[p, q], [, r]]}) => {
    const determinant = p * r - q * q;
    return {weight: weight / Math.sqrt(determinant), mean, inverse: [r / determinant, -q / determinant, p / determinant]};
  });
  return (x, y) => parts.reduce((sum, {weight, mean, inverse: [p, q, r]}) => {
    const dx = x - mean[0], dy = y - mean[1];
    return sum + weight * Math.exp(-(p * dx * dx + 2 * q * dx * dy + r * dy * dy) / 2);
  }, 0);
}

// Returns a picture of the density in [-reach, reach] each way: one colour, more or less of it.
export function shade(components, reach, side, colour) {
  const at = density(components), values = new Float64Array(side * side);
  const place = (k) => (2 * (k + .5) / side - 1) * reach;
  for (let y = 0; y < side; ++y)
    for (let x = 0; x < side; ++x) values[y * side + x] = at(place(x), -place(y));
  const most = values.reduce((a, b) => Math.max(a, b), 1e-300);
  const canvas = new OffscreenCanvas(side, side), context = canvas.getContext('2d');
  context.fillStyle = colour;
  context.fillRect(0, 0, side, side);
  const image = context.getImageData(0, 0, side, side);
  for (let k = 0; k < values.length; ++k) image.data[4 * k + 3] = 170 * Math.sqrt(values[k] / most);
  context.putImageData(image, 0, 0);
  return canvas;
}

export function dot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.fill();
}
