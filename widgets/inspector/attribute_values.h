#pragma once

// What rows of the inspector show, read from one component or merged from many.

#include "methods/method.h"
#include "widgets/inspector/attribute_row.h"

#include <vector>

namespace orrery::ui {

/// `14×12`; empty without a mesh.
QString meshText(const std::vector<std::int64_t>& mesh);
const TableRow* tableRow(const Component& component, std::string_view attribute, std::string_view key);
/// The value of row `id`: an attribute, `macs.bf16`, `name`, `count`, `mesh` or `mesh.0`. `preset`, a component to go
/// back to, may be null; so may its design.
RowValue rowValue(const Hardware& hardware, const Component& component, const QString& id, Dimension dimension,
                  const Hardware* presetDesign = nullptr, const Component* preset = nullptr);
/// What all say; otherwise mixed, with the number of the last one (the current component) for the slider and the
/// different values, commonest first, for the tooltip.
RowValue mergedValue(const std::vector<RowValue>& values);

/// The attributes that all of these kinds have, in the order of attributeSpecs(). Two declarations of one name count as
/// the same if form and dimension are.
std::vector<const AttributeSpec*> commonAttributes(const std::vector<ComponentKind>& kinds);

/// Whether a topology of that shape reads the attribute; true for those that belong to no shape (`bandwidth`).
bool shapeUses(std::string_view shape, std::string_view attribute);

bool isShapeAttribute(std::string_view attribute);  ///< belongs to some shapes and not to others
bool isLinkEnd(std::string_view attribute);         ///< says where a link begins or ends

/// What an end of a link in `parent` may say: the names of the link's siblings and, as paths, of what stands in them.
/// At most `most`.
QStringList endChoices(const Component& parent, int most = 400);

}  // namespace orrery::ui
