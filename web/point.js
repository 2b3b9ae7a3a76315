// A point of light as a blur shows it, drawn to compare with the lamps of a photo.
import {at} from './dom.js';

const kSide = 65;

function drawGaussian(context, deviation) {
  const light = context.createRadialGradient(kSide / 2, kSide / 2, 0, kSide / 2, kSide / 2, 4 * deviation);
  for (let k = 0; k <= 16; ++k) light.addColorStop(k / 16, `rgba(255,255,255,${Math.exp(-((k / 4) ** 2) / 2)})`);
  context.fillStyle = light;
  context.fillRect(0, 0, kSide, kSide);
}

function drawLine(context, length, angle) {
  context.translate(kSide / 2, kSide / 2);
  context.rotate(-angle * Math.PI / 180);
  context.fillRect(-length / 2, -.5, length, 1);
}

// Shows the light of {motion, gaussian, defocus, kernel}, whichever is given, and nothing of others.
export function showPoint({motion, gaussian, defocus, kernel, flipped}) {
  const blurs = Boolean(motion || gaussian || defocus || kernel);
  at('point').hidden = !blurs;
  if (!blurs) return;
  const context = at('point-canvas').getContext('2d');
  context.reset();
  context.fillRect(0, 0, kSide, kSide);
  context.fillStyle = '#fff';
  if (motion) drawLine(context, motion.length, motion.angle);
  if (gaussian) drawGaussian(context, gaussian);
  if (defocus) {
    context.beginPath();
    context.arc(kSide / 2, kSide / 2, defocus, 0, 7);
    context.fill();
  }
  if (!kernel) return;
  context.translate(kSide / 2, kSide / 2);
  if (flipped) context.rotate(Math.PI);
  context.drawImage(kernel, -kernel.width / 2, -kernel.height / 2);
}
