'use strict';

/** A small picture to send, and how a model request is seen to carry one. */

const zlib = require('node:zlib');

const SIZE = 16;

/** @param {string} type @param {Buffer} data one chunk of a PNG */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** @param {Buffer} bytes */
function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** A red square, as the base64 of a PNG that every decoder accepts. */
function picture() {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIZE, 0);
  header.writeUInt32BE(SIZE, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(SIZE * 3, Buffer.from([255, 0, 0]))]);
  const pixels = zlib.deflateSync(Buffer.concat(Array.from({ length: SIZE }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat(parts).toString('base64');
}

/**
 * Whether the messages of a model request hold a picture, in any of the model protocols.
 *
 * @param {any} value
 * @returns {boolean}
 */
function holdsPicture(value) {
  if (Array.isArray(value)) return value.some(holdsPicture);
  if (typeof value !== 'object' || value === null) return false;
  if (['image', 'image_url', 'input_image'].includes(value.type)) return true;
  if (value.inlineData ?? value.inline_data) return true;
  return Object.values(value).some(holdsPicture);
}

module.exports = { holdsPicture, picture };
