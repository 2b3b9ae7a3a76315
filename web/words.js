// Reports in the words of somebody who looks at pictures, and the numbers for who wants them.

const kIntervals = {student_t: 'from Student’s t', quantiles: 'from quantiles of the samples', none: 'none'};

export const kStates = {queued: 'waits', running: 'at work', done: 'done', failed: 'failed', cancelled: 'cancelled'};

// What the program calls the parts of its work.
const kStages = {
  'evaluations for the noise': 'Estimates the noise.',
  'evaluations': 'Draws what it may have been.',
  'evaluations for a rehearsal': 'Checks itself on a picture of its own.',
  'evaluations for a flipped kernel': 'Tries the blur turned around.',
};
export const stage = (name) => kStages[name] ?? `${name[0].toUpperCase()}${name.slice(1)}.`;

export function duration(seconds) {
  if (!(seconds >= 0)) return '';
  if (seconds < 1.5) return 'about a second';
  if (seconds < 90) return `about ${Math.round(seconds)} seconds`;
  return seconds < 5400 ? `about ${Math.round(seconds / 60)} minutes` : `about ${(seconds / 3600).toFixed(1)} hours`;
}

// Returns whether what was said of the picture fits it, as one sentence and the class of its colour.
export function verdict(report) {
  if (report.fits === false || report.findings?.length)
    return {kind: 'failed', words: 'Something does not match your description of the picture.'};
  if (report.quick) return {kind: 'done', words: 'One quick guess. Restore it to see what else it may have been.'};
  if (report.noise?.estimated)
    return {kind: 'done', words: 'Nothing in the picture contradicts your description.'};
  return {kind: 'done', words: 'Your description fits the picture, as well as its noise allows.'};
}

const round = (value, digits = 3) => (typeof value === 'number' ? String(Number(value.toPrecision(digits))) : value);

// Returns pairs of a name and a value, for a list.
export function numbers(report) {
  const noise = report.noise ?? {};
  return [
    ['Fit to the measurement, chi2', `${round(report.chi2)} (1 is a fit)`],
    ['Noise', `${round(noise.grey_levels)} grey levels${noise.estimated ? ', estimated' : ''} (sigma = ${round(noise.sigma)})`],
    ['Operator', report.operator],
    ['Network', report.model],
    ['Method', report.method],
    ['Samples', `${report.samples}, ${round(report.evaluations_per_sample)} evaluations each`],
    ['Seed', report.seed],
    ['90% interval', kIntervals[report.interval] ?? report.interval],
    ['Measured', report.measured_share < 1 ? `${round(100 * report.measured_share)}%` : null],
    ['PSNR of a sample', report.psnr_of_samples && `${report.psnr_of_samples.toFixed(2)} dB`],
    ['PSNR of the mean', report.psnr_of_mean && `${report.psnr_of_mean.toFixed(2)} dB`],
    ['Time', `${round(report.seconds)} s`],
    ['eps', report.version],
  ].filter(([, value]) => value != null && value !== '');
}
