// The cards of networks: the part of Markdown that they use, as elements. No markup of a card is
// ever taken as markup of the page.
import {element} from './dom.js';

// Returns text with code, stress and links; only links to other hosts lead anywhere.
function inline(text) {
  const parts = [];
  const pattern = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)\s]+)\s*\)/g;
  let from = 0;
  for (const found of text.matchAll(pattern)) {
    parts.push(text.slice(from, found.index));
    const [all, code, strong, stressed, words, target] = found;
    if (code) parts.push(element('code', {}, code));
    else if (strong) parts.push(element('strong', {}, strong));
    else if (stressed) parts.push(element('em', {}, stressed));
    else if (/^https?:/.test(target)) parts.push(element('a', {href: target, rel: 'noreferrer', target: '_blank'}, ...inline(words)));
    else parts.push(...inline(words));
    from = found.index + all.length;
  }
  parts.push(text.slice(from));
  return parts.filter((part) => part !== '');
}

const cells = (line) => line.replace(/^\||\|$/g, '').split(/(?<!\\)\|/).map((cell) => cell.trim());

function table(lines) {
  const [head, , ...rows] = lines.map(cells);
  const row = (values, name) => element('tr', {}, ...values.map((value) => element(name, {}, ...inline(value))));
  const titled = head.some((cell) => cell);
  return element('table', {}, ...(titled ? [row(head, 'th')] : []), ...rows.map((values) => row(values, 'td')));
}

function block(lines) {
  const [first] = lines;
  const heading = /^(#+) (.*)/.exec(first);
  if (heading) return element(heading[1].length > 2 ? 'h4' : 'h3', {}, ...inline(heading[2]));
  if (first.startsWith('|')) return table(lines);
  if (first.startsWith('```')) return element('pre', {}, lines.filter((line) => !line.startsWith('```')).join('\n'));
  if (/^[-*] /.test(first)) {
    const items = lines.join('\n').split(/^[-*] /m).slice(1);
    return element('ul', {}, ...items.map((item) => element('li', {}, ...inline(item.replace(/\s+/g, ' ')))));
  }
  return element('p', {}, ...inline(lines.join(' ')));
}

// Returns the elements of a card, without its title.
export function markdown(text) {
  const blocks = text.replace(/<!--[\s\S]*?-->/g, '').replace(/^# .*\n/, '').replace(/^(#+ .*)$/gm, '\n$1\n').split(/\n\s*\n/);
  return blocks.map((one) => one.split('\n').filter((line) => line.trim())).filter((lines) => lines.length).map(block);
}
