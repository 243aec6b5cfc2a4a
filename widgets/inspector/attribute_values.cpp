#include "widgets/inspector/attribute_values.h"

#include "hardware/copies.h"
#include "hardware/walk.h"
#include "widgets/common/text.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <map>
#include <span>

namespace orrery::ui {
namespace {

RowValue valueOf(const Component& component, const Attribute& attribute, const Hardware& hardware,
                 Dimension dimension) {
    RowValue value;
    if (const auto* measure = std::get_if<Measure>(&attribute.value)) {
        value.measure = *measure;
        value.text = measureText(*measure, dimension);
    } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
        value.text = qs(*text);
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&attribute.value)) {
        QStringList words;
        for (const std::string& word : *list) words << qs(word);
        value.text = words.join(QStringLiteral(", "));
    }
    value.source = qs(sourceOf(component, attribute));
    value.note = qs(attribute.note);
    for (const Source& source : hardware.sources)
        if (qs(source.key) == value.source) value.sourceText = qs(source.text);
    return value;
}

RowValue number(std::int64_t count) {
    RowValue value;
    value.measure = Measure{static_cast<double>(count), false, {}};
    value.text = QString::number(count);
    return value;
}

RowValue ownValue(const Hardware& hardware, const Component& component, const QString& id, Dimension dimension) {
    const std::string name = id.section(QLatin1Char('.'), 0, 0).toStdString();
    const QString key = id.section(QLatin1Char('.'), 1);
    if (name == "name") return {.text = qs(component.name)};
    if (name == "count") {
        if (isGridOfCopies(component)) return {.text = meshText(component.mesh)};
        return number(component.count);
    }
    if (name == "mesh") {
        if (key.isEmpty()) return {.text = meshText(component.mesh)};
        const auto side = key.toUInt();
        return side < component.mesh.size() ? number(component.mesh[side]) : RowValue();
    }
    const Attribute* attribute = component.find(name);
    if (!attribute) return {};
    if (key.isEmpty()) return valueOf(component, *attribute, hardware, dimension);
    const TableRow* cell = tableRow(component, name, key.toStdString());
    if (!cell) return {};
    return valueOf(component, Attribute{name, cell->value, attribute->source, attribute->note}, hardware, dimension);
}

using Names = std::span<const std::string_view>;
constexpr std::array<std::string_view, 8> shaped{"size",   "dims",   "radix",   "oversubscription",
                                                 "planes", "groups", "routers", "globals"};
constexpr std::array<std::string_view, 1> sizeOnly{"size"};
constexpr std::array<std::string_view, 2> grid{"size", "dims"};
constexpr std::array<std::string_view, 2> oneSwitch{"size", "radix"};
constexpr std::array<std::string_view, 3> tree{"size", "radix", "oversubscription"};
constexpr std::array<std::string_view, 5> rails{"size", "groups", "radix", "oversubscription", "planes"};
constexpr std::array<std::string_view, 3> planes{"size", "radix", "planes"};
constexpr std::array<std::string_view, 4> dragonfly{"size", "groups", "routers", "globals"};

Names namesOf(std::string_view shape) {
    if (shape == "mesh" || shape == "torus") return grid;
    if (shape == "switch" || shape == "star") return oneSwitch;
    if (shape == "fat-tree") return tree;
    if (shape == "rail-optimised") return rails;
    if (shape == "nvswitch") return planes;
    if (shape == "dragonfly") return dragonfly;
    if (shape.empty()) return shaped;
    return sizeOnly;
}

void addEnds(const Component& parent, const QString& before, int depth, int most, QStringList& ends) {
    for (const Component& child : partsIn(parent)) {
        if (ends.size() >= most) return;
        if (child.kind == ComponentKind::Link || child.kind == ComponentKind::Topology || child.name.empty()) continue;
        ends << before + qs(child.name);
    }
    if (depth == 0) return;
    for (const Component& child : partsIn(parent)) {
        if (child.kind == ComponentKind::Link || child.kind == ComponentKind::Topology || child.name.empty()) continue;
        addEnds(child, before + qs(child.name) + QLatin1Char('/'), depth - 1, most, ends);
    }
}

}  // namespace

QString meshText(const std::vector<std::int64_t>& mesh) {
    QStringList extents;
    for (const std::int64_t extent : mesh) extents << QString::number(extent);
    return extents.join(QStringLiteral("×"));
}

const TableRow* tableRow(const Component& component, std::string_view attribute, std::string_view key) {
    const Attribute* table = component.find(attribute);
    const auto* rows = table ? std::get_if<std::vector<TableRow>>(&table->value) : nullptr;
    if (!rows) return nullptr;
    for (const TableRow& row : *rows)
        if (row.key == key) return &row;
    return nullptr;
}

RowValue rowValue(const Hardware& hardware, const Component& component, const QString& id, Dimension dimension,
                  const Hardware* presetDesign, const Component* preset) {
    RowValue value = ownValue(hardware, component, id, dimension);
    if (preset && presetDesign && id != QLatin1String("name"))
        value.preset = ownValue(*presetDesign, *preset, id, dimension).text;
    return value;
}

RowValue mergedValue(const std::vector<RowValue>& values) {
    if (values.empty()) return {};
    RowValue merged = values.back();
    const auto same = [](const RowValue& a, const RowValue& b) {
        if (a.measure && b.measure) return a.measure->si == b.measure->si && a.measure->perCycle == b.measure->perCycle;
        return a.text == b.text;
    };
    const auto agree = [&](auto equal) {
        return std::all_of(values.begin(), values.end(), [&](const RowValue& value) { return equal(value, merged); });
    };
    if (!agree([](const RowValue& a, const RowValue& b) { return a.source == b.source; })) {
        merged.source.clear();
        merged.sourceText.clear();
        merged.mixedSources = true;
    }
    if (!agree([](const RowValue& a, const RowValue& b) { return a.note == b.note; })) merged.note.clear();
    if (!agree([](const RowValue& a, const RowValue& b) { return a.preset == b.preset; })) merged.preset.reset();
    if (agree(same)) return merged;
    merged.mixed = true;
    merged.preset.reset();
    merged.text.clear();
    std::map<QString, int> counts;
    for (const RowValue& value : values) ++counts[value.text];
    std::vector<std::pair<QString, int>> common(counts.begin(), counts.end());
    std::stable_sort(common.begin(), common.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    QStringList lines;
    for (const auto& [text, count] : common) {
        if (lines.size() == 6) {
            lines << QStringLiteral("…");
            break;
        }
        lines << QStringLiteral("%1 (×%2)")
                     .arg(text.isEmpty() ? QCoreApplication::translate("AttributeRow", "not given") : text,
                          QString::number(count));
    }
    merged.mixedValues = lines.join(QLatin1Char('\n'));
    return merged;
}

std::vector<const AttributeSpec*> commonAttributes(const std::vector<ComponentKind>& kinds) {
    std::vector<const AttributeSpec*> common;
    if (kinds.empty()) return common;
    for (const AttributeSpec& spec : attributeSpecs()) {
        if (!spec.on(kinds.front())) continue;
        const bool all = std::all_of(kinds.begin(), kinds.end(), [&spec](ComponentKind kind) {
            const AttributeSpec* other = attributeSpec(kind, spec.name);
            return other && other->form == spec.form && other->dimension == spec.dimension;
        });
        if (all) common.push_back(&spec);
    }
    return common;
}

bool isShapeAttribute(std::string_view attribute) {
    return std::ranges::find(shaped, attribute) != shaped.end();
}

bool isLinkEnd(std::string_view attribute) {
    return attribute == "from" || attribute == "to" || attribute == "from_port" || attribute == "to_port";
}

bool shapeUses(std::string_view shape, std::string_view attribute) {
    if (!isShapeAttribute(attribute)) return true;
    return std::ranges::find(namesOf(shape), attribute) != namesOf(shape).end();
}

QStringList endChoices(const Component& parent, int most) {
    QStringList ends;
    addEnds(parent, {}, 2, most, ends);
    return ends;
}

}  // namespace orrery::ui
