#pragma once

// Where links may begin and end on a box: the numbered ports of a switch, clockwise from its top left corner, or the
// middles of the sides. Their names are what `from_port` and `to_port` say.

#include "hardware/component.h"
#include "widgets/canvas/scene.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery::ui {

struct BoxPort {
    std::string name;  ///< `1`… of a switch with `ports`, else `left`, `top`, `right`, `bottom`
    Side side = Side::None;
    double along = 0.5;  ///< on that side, from the left or top
    QPointF at;
};

/// How many numbered ports a component has; 0: the sides are its ports.
int numberedPorts(const Component& component);
/// All ports of a box. Numbered ones that would stand closer than `least` to each other are left out altogether.
std::vector<BoxPort> portsOf(const Component& component, const QRectF& box, double least = 0);
/// The port of that name; sides go for every component.
std::optional<BoxPort> portNamed(const Component& component, const QRectF& box, const std::string& name);

}  // namespace orrery::ui
