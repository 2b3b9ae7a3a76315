// The HTTP interface of eps serve (docs/http.md), one function for each request.

// The token of the printed address stays in it, so that reloading works and the address can be
// opened in another tab.
const token = new URLSearchParams(location.search).get('token') ?? '';

// Returns an address that a picture, a download or a stream of events can use.
export function address(path, query = {}) {
  return `/v1/${path}?${new URLSearchParams({...query, token})}`;
}

async function request(path, options = {}) {
  let answer;
  try {
    answer = await fetch(`/v1/${path}`, {...options, headers: {'X-Eps-Token': token}});
  } catch (failure) {
    if (failure.name === 'AbortError') throw failure;
    throw new Error('eps serve does not answer. Was it stopped?');
  }
  if (answer.ok) return answer;
  const {error} = await answer.json().catch(() => ({}));
  const failure = new Error(answer.status === 401
    ? 'The page needs the whole address that eps serve printed, with its token.'
    : error || `eps serve answers ${answer.status}`);
  failure.status = answer.status;
  throw failure;
}

const json = async (path, options) => (await request(path, options)).json();

// Returns a form of options and files; a demo picture is named, and not sent.
function form(options, picture, files = {}) {
  const body = new FormData();
  body.append('options', JSON.stringify(picture.demo ? {...options, demo: picture.demo} : options));
  if (!picture.demo) body.append('image', picture.file, picture.name);
  for (const [name, file] of Object.entries(files)) if (file) body.append(name, file, file.name || `${name}.png`);
  return body;
}

const post = (body, signal) => ({method: 'POST', body, signal});

export const status = () => json('status');
export const models = () => json('models');
export const demos = () => json('demo');
export const restorations = () => json('restorations');
export const restoration = (id) => json(`restorations/${id}`);
export const create = (options, picture, files) =>
  json('restorations', post(form(options, picture, files)));
export const remove = (id) => request(`restorations/${id}`, {method: 'DELETE'});
export const pixel = (id, x, y) => json(`restorations/${id}/pixel?x=${x}&y=${y}`);
export const exactness = (values, signal) =>
  json(`exactness?${new URLSearchParams(values)}`, {signal});
export const noise = (picture, patch) => json('noise', post(form(patch, picture)));

// Returns a picture of the server, decoded.
export async function picture(path, options) {
  const answer = await request(path, options);
  return createImageBitmap(await answer.blob());
}
export const file = (id, name) => picture(`restorations/${id}/files/${name}`);
export const running = (id, n) => picture(`restorations/${id}/preview.png?n=${n}`);
export const preview = (options, of, files, signal) =>
  picture('preview', post(form(options, of, files), signal));
export const bytes = async (path) => (await request(path)).blob();

// Returns the stream of events of a restoration; each event calls the function of its name.
export function events(id, heard) {
  const stream = new EventSource(address(`restorations/${id}/events`));
  for (const [name, act] of Object.entries(heard))
    if (name !== 'lost') stream.addEventListener(name, (event) => act(JSON.parse(event.data)));
  stream.addEventListener('error', () => {
    if (stream.readyState === EventSource.CLOSED) heard.lost?.();
  });
  return stream;
}
