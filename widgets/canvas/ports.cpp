#include "widgets/canvas/ports.h"

#include "widgets/canvas/routing.h"

#include <array>
#include <charconv>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr int mostNumbered = 1024;

constexpr std::array<std::pair<const char*, Side>, 4> sides{
    {{"left", Side::Left}, {"top", Side::Top}, {"right", Side::Right}, {"bottom", Side::Bottom}}};

BoxPort onBox(std::string name, const QRectF& box, Side side, double along) {
    return {std::move(name), side, along, onSide(box, side, along)};
}

BoxPort numbered(const QRectF& box, int number, int count) {
    const double width = box.width(), height = box.height();
    double way = (number - 0.5) / count * 2 * (width + height);
    std::string name = std::to_string(number);
    if (way < width) return onBox(std::move(name), box, Side::Top, way / width);
    way -= width;
    if (way < height) return onBox(std::move(name), box, Side::Right, way / height);
    way -= height;
    if (way < width) return onBox(std::move(name), box, Side::Bottom, 1 - way / width);
    return onBox(std::move(name), box, Side::Left, 1 - (way - width) / height);
}

}  // namespace

int numberedPorts(const Component& component) {
    if (component.kind != ComponentKind::Switch) return 0;
    const Attribute* given = component.find("ports");
    const Measure* ports = given ? std::get_if<Measure>(&given->value) : nullptr;
    if (!ports || !(ports->si >= 1) || ports->si > mostNumbered || ports->si != std::floor(ports->si)) return 0;
    return static_cast<int>(ports->si);
}

std::vector<BoxPort> portsOf(const Component& component, const QRectF& box, double least) {
    std::vector<BoxPort> all;
    if (box.isEmpty()) return all;
    if (const int count = numberedPorts(component); count > 0) {
        if (2 * (box.width() + box.height()) / count < least) return all;
        for (int number = 1; number <= count; ++number) all.push_back(numbered(box, number, count));
        return all;
    }
    for (const auto& [name, side] : sides) all.push_back(onBox(name, box, side, 0.5));
    return all;
}

std::optional<BoxPort> portNamed(const Component& component, const QRectF& box, const std::string& name) {
    if (name.empty() || box.isEmpty()) return std::nullopt;
    for (const auto& [word, side] : sides) {
        if (name == word) return onBox(name, box, side, 0.5);
    }
    int number = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    const int count = numberedPorts(component);
    if (wrong != std::errc() || end != name.data() + name.size() || number < 1 || number > count) return std::nullopt;
    return numbered(box, number, count);
}

}  // namespace orrery::ui
