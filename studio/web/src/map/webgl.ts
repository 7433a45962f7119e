import { type Camera, pixelsPerUnit, type Size } from "./camera";
import type { Renderer, Scene } from "./scene";

const VERTEX = `#version 300 es
in vec2 place; in vec4 colour; uniform vec2 middle; uniform vec2 scale; uniform float diameter;
out vec4 tint;
void main() { gl_Position = vec4((place - middle) * scale, 0.0, 1.0); gl_PointSize = diameter; tint = colour; }`;
const DISC = `#version 300 es
precision highp float; in vec4 tint; uniform float diameter; out vec4 shown;
void main() {
  float from = length(gl_PointCoord - 0.5) * diameter;
  float cover = clamp(diameter * 0.5 - from + 0.5, 0.0, 1.0);
  shown = vec4(tint.rgb, tint.a * cover);
}`;
const LINE = `#version 300 es
precision highp float; in vec4 tint; out vec4 shown; void main() { shown = tint; }`;

function compile(gl: WebGL2RenderingContext, fragment: string): WebGLProgram {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.bindAttribLocation(program, 0, "place");
  gl.bindAttribLocation(program, 1, "colour");
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    throw new Error(gl.getProgramInfoLog(program) ?? "The map's shaders could not be linked.");
  }
  return program;
}

/** Points and lines by WebGL 2: one draw call each, whatever their number. */
export class WebGlRenderer implements Renderer {
  readonly kind = "webgl";
  private readonly discs: WebGLProgram;
  private readonly strokes: WebGLProgram;
  private readonly buffers: Record<"places" | "colours" | "raised" | "ends" | "inks", WebGLBuffer>;
  private counts = { points: 0, raised: 0, ends: 0 };
  private pointSize = 1;

  private constructor(private readonly gl: WebGL2RenderingContext) {
    this.discs = compile(gl, DISC);
    this.strokes = compile(gl, LINE);
    const buffer = (): WebGLBuffer => gl.createBuffer();
    this.buffers = { places: buffer(), colours: buffer(), raised: buffer(), ends: buffer(), inks: buffer() };
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** A renderer for the canvas, or null where there is no WebGL 2 or (unless `anyhow`) only in software. */
  static on(canvas: HTMLCanvasElement, anyhow: boolean): WebGlRenderer | null {
    const gl = canvas.getContext("webgl2", { antialias: true, premultipliedAlpha: false, preserveDrawingBuffer: true, failIfMajorPerformanceCaveat: !anyhow });
    return gl && new WebGlRenderer(gl);
  }

  load(scene: Scene): void {
    const { gl } = this;
    const fill = (buffer: WebGLBuffer, data: Float32Array | Uint32Array, kind: number): void => {
      gl.bindBuffer(kind, buffer);
      gl.bufferData(kind, data as BufferSource, gl.STATIC_DRAW);
    };
    fill(this.buffers.places, scene.positions, gl.ARRAY_BUFFER);
    fill(this.buffers.colours, scene.colours, gl.ARRAY_BUFFER);
    fill(this.buffers.ends, scene.lines, gl.ARRAY_BUFFER);
    fill(this.buffers.inks, scene.lineColours, gl.ARRAY_BUFFER);
    fill(this.buffers.raised, scene.raised, gl.ELEMENT_ARRAY_BUFFER);
    this.counts = { points: scene.colours.length, raised: scene.raised.length, ends: scene.lineColours.length };
    this.pointSize = scene.pointSize;
  }

  draw(camera: Camera, size: Size, ratio: number, from: number, to: number): void {
    const { gl, counts } = this;
    gl.viewport(0, 0, size.width * ratio, size.height * ratio);
    gl.clearColor(0, 0, 0, 0);
    if (from === 0) gl.clear(gl.COLOR_BUFFER_BIT);
    const unit = pixelsPerUnit(camera, size);
    const closer = Math.min(2.5, Math.max(1, camera.zoom ** 0.35));
    const bind = (program: WebGLProgram, places: WebGLBuffer, colours: WebGLBuffer, diameter: number): void => {
      gl.useProgram(program);
      gl.uniform2f(gl.getUniformLocation(program, "middle"), camera.x, camera.y);
      gl.uniform2f(gl.getUniformLocation(program, "scale"), (2 * unit) / size.width, (2 * unit) / size.height);
      gl.uniform1f(gl.getUniformLocation(program, "diameter"), diameter);
      gl.bindBuffer(gl.ARRAY_BUFFER, places);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
      gl.bindBuffer(gl.ARRAY_BUFFER, colours);
      gl.enableVertexAttribArray(1);
      gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    };
    const diameter = this.pointSize * ratio * closer;
    bind(this.discs, this.buffers.places, this.buffers.colours, diameter);
    gl.drawArrays(gl.POINTS, from, Math.min(to, counts.points) - from);
    if (from > 0 && to < counts.points) return;
    bind(this.strokes, this.buffers.ends, this.buffers.inks, 1);
    gl.drawArrays(gl.LINES, 0, counts.ends);
    bind(this.discs, this.buffers.places, this.buffers.colours, diameter * 1.15);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.raised);
    gl.drawElements(gl.POINTS, counts.raised, gl.UNSIGNED_INT, 0);
  }

  finish(): void {
    const { gl } = this;
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // unlike gl.finish, this waits everywhere
  }

  dispose(): void {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}
