// Turning surfaces with mouse, fingers and keys: draws what the server drew, from elsewhere.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const CORNERS = [[-1, -1], [1, -1], [1, 1], [-1, 1]];

  const shape = (name, attributes) => {
    const found = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
    return found;
  };

  const turn = (figure) => {
    const data = JSON.parse(figure.dataset.surface);
    const svg = figure.querySelector("svg");
    const [width, height, scale, rise] = data.size;
    const [numbers, names] = data.apart;
    let [azimuth, elevation] = data.view;

    const depth = (x, y) => x * Math.sin(azimuth) + y * Math.cos(azimuth);
    const at = (x, y, z) => {
      const right = x * Math.cos(azimuth) - y * Math.sin(azimuth);
      const up = depth(x, y) * Math.sin(elevation) + (2 * z - 1) * rise * Math.cos(elevation);
      return [width / 2 + right * scale, height / 2 - up * scale];
    };
    const points = (places) => places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
    const line = (places) => shape("polyline", { points: points(places), class: "line edge" });
    const word = ([x, y], text, anchor = "middle") => {
      const found = shape("text", { x: x.toFixed(1), y: (y + 4).toFixed(1), "text-anchor": anchor });
      found.textContent = text;
      return found;
    };

    const faces = () => {
      const found = [];
      for (let j = 0; j + 1 < data.y.length; j += 1) {
        for (let i = 0; i + 1 < data.x.length; i += 1) {
          const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
          const heights = corners.map(([a, b]) => data.z[b][a]);
          if (heights.includes(null)) continue;
          const middle = depth((data.x[i] + data.x[i + 1]) / 2, (data.y[j] + data.y[j + 1]) / 2);
          const mean = heights.reduce((sum, one) => sum + one, 0) / 4;
          const shade = Math.min(Math.floor(mean * data.shades), data.shades - 1);
          const places = corners.map(([a, b], k) => at(data.x[a], data.y[b], heights[k]));
          found.push([middle, shape("polygon", { points: points(places), class: `shade${shade}` })]);
        }
      }
      return found.sort((a, b) => b[0] - a[0]).map((pair) => pair[1]);
    };

    const draw = () => {
      const front = CORNERS.reduce((a, b) => (depth(...b) < depth(...a) ? b : a));
      const left = CORNERS.reduce((a, b) => (at(...b, 0)[0] < at(...a, 0)[0] ? b : a));
      const near = 1 + numbers;
      const far = 1 + names;
      const [x, y, z] = data.marks;
      svg.replaceChildren(
        line([...CORNERS, CORNERS[0]].map((corner) => at(...corner, 0))),
        line([at(...left, 0), at(...left, 1)]),
        ...faces(),
        ...x.map(([place, text]) => word(at(place, front[1] * near, 0), text)),
        ...y.map(([place, text]) => word(at(front[0] * near, place, 0), text)),
        word(at(0, front[1] * far, 0), data.names[0]),
        word(at(front[0] * far, 0, 0), data.names[1]),
        ...z.map(([place, text]) => {
          const [right, down] = at(...left, place);
          return word([right - 8, down], text, "end");
        }),
        word([8, 12], data.names[2], "start"),
      );
    };

    let waiting = false;
    const turned = (right, up) => {
      azimuth += right;
      elevation = Math.min(Math.max(elevation + up, 0.05), 1.5);
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        draw();
      });
    };

    let last = null;
    svg.addEventListener("pointerdown", (event) => {
      last = [event.clientX, event.clientY];
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      if (!last) return;
      turned((event.clientX - last[0]) * 0.01, (event.clientY - last[1]) * 0.01);
      last = [event.clientX, event.clientY];
    });
    for (const name of ["pointerup", "pointercancel"]) {
      svg.addEventListener(name, () => {
        last = null;
      });
    }
    const keys = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
    svg.addEventListener("keydown", (event) => {
      if (event.key === "Home") {
        [azimuth, elevation] = data.view;
        turned(0, 0);
      } else if (keys[event.key]) {
        turned(...keys[event.key]);
      } else {
        return;
      }
      event.preventDefault();
    });

    const told = document.createElement("small");
    told.textContent = "Turn it with the mouse, a finger, or the arrow keys; Home turns it back.";
    figure.querySelector("figcaption").append(document.createElement("br"), told);
    svg.setAttribute("tabindex", "0");
    svg.classList.add("turns");
  };

  for (const figure of document.querySelectorAll("[data-surface]")) turn(figure);
})();
