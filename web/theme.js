// The switch between light, dark and what the system says.
import {at} from './dom.js';

const kWords = {'': 'Theme: system', light: 'Theme: light', dark: 'Theme: dark'};
const kNext = {'': 'dark', dark: 'light', light: ''};

function show(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  at('theme').textContent = kWords[theme];
  // Canvases take their colours from the style when they are drawn.
  dispatchEvent(new Event('themechange'));
}

export function startTheme() {
  let theme = localStorage.getItem('eps-theme') ?? '';
  if (!(theme in kWords)) theme = '';
  at('theme').addEventListener('click', () => {
    theme = kNext[theme];
    localStorage.setItem('eps-theme', theme);
    show(theme);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => show(theme));
  show(theme);
}
