#include "widgets/inspector/topology_section.h"

#include "hardware/attributes.h"
#include "hardware/network/topology.h"
#include "hardware/walk.h"
#include "widgets/common/fact_list.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/inspector/attribute_values.h"
#include "widgets/library/shape_glyphs.h"

#include <QKeyEvent>
#include <QListWidget>
#include <QMenu>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

namespace orrery::ui {
namespace {

QString textOf(const Component& component, std::string_view attribute) {
    const Attribute* found = component.find(attribute);
    return found ? qs(toText(found->value)) : QString();
}

QString shapeLabel(const QString& shape) {
    for (int i = 0; i < topologyShapeCount; ++i)
        if (qs(toText(static_cast<TopologyShape>(i))) == shape) return qs(label(static_cast<TopologyShape>(i)));
    return shape;
}

QIcon shapeIcon(const QString& shape) {
    QIcon icon;
    for (const int side : {16, 32}) {
        QPixmap pixmap(side, side);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paintShapeGlyph(painter, shape, QRectF(0, 0, side, side), Theme::instance().colours().text);
        icon.addPixmap(pixmap);
    }
    return icon;
}

/// `Torus 4×4`, `Fat tree 32`.
QString dimensionText(const TopologyDimension& dimension) {
    const QString size =
        dimension.sides.empty() ? countText(static_cast<double>(dimension.size)) : meshText(dimension.sides);
    return qs(label(dimension.shape)) + QLatin1Char(' ') + size;
}

}  // namespace

TopologySection::TopologySection(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("inspector.topology"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(new SectionHeader(tr("Network"), this));
    facts_ = new FactList(this);
    column->addWidget(facts_);
    refusal_ = new Label({}, FontRole::Small, Tone::Warning, this);
    refusal_->setObjectName(QStringLiteral("inspector.topology.refusal"));
    refusal_->setWordWrap(true);
    column->addWidget(refusal_);
    column->addWidget(new SectionHeader(tr("Dimensions, innermost first"), this));
    stack_ = new QListWidget(this);
    stack_->setObjectName(QStringLiteral("inspector.stack"));
    stack_->setAccessibleName(tr("Dimensions of the network"));
    stack_->setToolTip(
        tr("Shapes one inside the other; Enter selects one to edit its numbers, Delete removes it, "
           "Alt+↑ and Alt+↓ move it"));
    stack_->setSizeAdjustPolicy(QAbstractScrollArea::AdjustToContents);
    stack_->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    stack_->installEventFilter(this);
    column->addWidget(stack_);
    auto* line = new QHBoxLayout;
    line->setSpacing(4);
    add_ = new QToolButton(this);
    add_->setObjectName(QStringLiteral("inspector.stack.add"));
    add_->setText(tr("Add dimension"));
    add_->setAccessibleName(tr("Add a dimension"));
    add_->setToolTip(tr("Stack another shape around this network"));
    add_->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(add_);
    menu->setObjectName(QStringLiteral("inspector.stack.add.menu"));
    if (const AttributeSpec* shape = attributeSpec(ComponentKind::Topology, "shape")) {
        for (const std::string_view choice : shape->choices)
            menu->addAction(shapeLabel(qs(choice)), this, [this, choice] { add(qs(choice)); });
    }
    add_->setMenu(menu);
    line->addWidget(add_);
    line->addStretch(1);
    up_ = new IconButton(QStringLiteral("go-up"), tr("Move the dimension inwards (Alt+↑)"),
                         QStringLiteral("inspector.stack.up"), this);
    down_ = new IconButton(QStringLiteral("go-down"), tr("Move the dimension outwards (Alt+↓)"),
                           QStringLiteral("inspector.stack.down"), this);
    remove_ = new IconButton(QStringLiteral("edit-delete"), tr("Remove the dimension (Delete)"),
                             QStringLiteral("inspector.stack.remove"), this);
    for (QToolButton* button : {up_, down_, remove_}) line->addWidget(button);
    column->addLayout(line);
    connect(up_, &QToolButton::clicked, this, [this] { moveCurrent(-1); });
    connect(down_, &QToolButton::clicked, this, [this] { moveCurrent(1); });
    connect(remove_, &QToolButton::clicked, this, &TopologySection::removeCurrent);
    connect(stack_, &QListWidget::itemActivated, this, [this](QListWidgetItem* item) {
        const auto all = dimensions();
        const auto row = static_cast<std::size_t>(stack_->row(item));
        if (row >= all.size()) return;
        ComponentPath child = path_;
        child.push_back(all[row]);
        emit selectRequested(child);
    });
    connect(stack_, &QListWidget::currentRowChanged, this, [this](int row) {
        const int count = static_cast<int>(dimensions().size());
        up_->setEnabled(row > 0);
        down_->setEnabled(row >= 0 && row + 1 < count);
        remove_->setEnabled(row >= 0 && row < count);
    });
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        if (hardware_) showStack();
    });
}

void TopologySection::show(HardwarePtr hardware, const ComponentPath& topology) {
    hardware_ = std::move(hardware);
    path_ = topology;
    showFacts();
    showStack();
}

std::vector<int> TopologySection::dimensions() const {
    std::vector<int> found;
    const Component* topology = hardware_ ? componentAt(hardware_->root, path_) : nullptr;
    const auto parts = topology ? partsIn(*topology) : std::span<const Component>();
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (parts[i].kind == ComponentKind::Topology) found.push_back(static_cast<int>(i));
    return found;
}

void TopologySection::showFacts() {
    std::vector<Fact> facts;
    const auto spec = topologySpec(hardware_->root, path_);
    const auto found = spec ? topologyFacts(*spec) : Expected<TopologyFacts>(Unexpected(spec.error()));
    if (spec) {
        QStringList shapes;
        for (const TopologyDimension& dimension : spec->dimensions)
            shapes << QLatin1Char('[') + dimensionText(dimension) + QLatin1Char(']');
        facts.push_back({tr("Shape"), shapes.join(QStringLiteral(" × ")), tr("Innermost first")});
    }
    if (found) {
        const auto count = [&facts](const QString& name, std::int64_t number, const QString& tip) {
            facts.push_back({name, countText(static_cast<double>(number)), tip});
        };
        count(tr("Endpoints"), found->endpoints, tr("Siblings of the network, each with its copies"));
        count(tr("Switches"), found->switches, tr("Switches of all tiers and planes"));
        count(tr("Links"), found->links, tr("Between endpoints and switches, each in both directions"));
        count(tr("Diameter"), found->diameter, tr("Links crossed between the farthest endpoints"));
        facts.push_back({tr("Mean distance"), QString::number(found->meanHops, 'g', 3),
                         tr("Links crossed, over all pairs of different endpoints")});
        QString cut = found->bisectionLinks == 1
                          ? tr("1 link")
                          : tr("%1 links").arg(countText(static_cast<double>(found->bisectionLinks)));
        if (found->bisection.value > 0) cut += QStringLiteral(" · ") + text(found->bisection);
        facts.push_back({tr("Bisection"), cut, tr("Links between two halves, and their bandwidth in one direction")});
    }
    facts_->setVisible(!facts.empty());
    facts_->setFacts(std::move(facts));
    refusal_->setVisible(!found);
    if (found) return refusal_->setFullText({});
    const Diagnostic& why = found.error();
    const std::string& more = why.hint.empty() ? why.expected : why.hint;
    refusal_->setFullText(more.empty() ? windowText(why.message)
                                       : windowText(why.message) + QStringLiteral(" – ") + windowText(more));
}

void TopologySection::showStack() {
    const int before = stack_->currentRow();
    const Component* topology = componentAt(hardware_->root, path_);
    if (!topology) return;
    const auto all = dimensions();
    QStringList lines, shapes;
    for (const int child : all) {
        const Component& one = partsIn(*topology)[static_cast<std::size_t>(child)];
        const QString shape = textOf(one, "shape");
        const QString size = textOf(one, "dims").isEmpty() ? textOf(one, "size") : textOf(one, "dims");
        lines << QStringLiteral("%1 %2 · %3")
                     .arg(shapeLabel(shape), size.isEmpty() ? tr("size?") : size, qs(nameOf(one)));
        shapes << shape;
    }
    if (all.empty()) {
        const QString shape = textOf(*topology, "shape");
        lines << (shape.isEmpty() ? tr("No shape is chosen") : tr("%1, alone").arg(shapeLabel(shape)));
        shapes << shape;
    }
    while (stack_->count() > lines.size()) delete stack_->takeItem(stack_->count() - 1);
    while (stack_->count() < lines.size()) stack_->addItem(QString());
    for (int row = 0; row < stack_->count(); ++row) {
        stack_->item(row)->setText(lines[row]);
        stack_->item(row)->setIcon(shapeIcon(shapes[row]));
    }
    stack_->setFixedHeight(std::min(6, stack_->count()) * std::max(22, stack_->sizeHintForRow(0)) + 6);
    const int row = std::clamp(before, 0, stack_->count() - 1);
    stack_->setCurrentRow(row);
    emit stack_->currentRowChanged(row);
}

void TopologySection::add(const QString& shape) {
    const Component* topology = hardware_ ? componentAt(hardware_->root, path_) : nullptr;
    if (!topology) return;
    std::vector<Component> parts;
    const auto named = [](Component component, const QString& name) {
        component.kind = ComponentKind::Topology;
        component.name = name.toStdString();
        return component;
    };
    const QString own = textOf(*topology, "shape");
    if (dimensions().empty() && !own.isEmpty()) {
        // Its own shape becomes the innermost dimension, as large as it is now.
        Component inner = named({}, own);
        inner.attributes = topology->attributes;
        if (const auto spec = topologySpec(hardware_->root, path_); spec && !inner.find("size"))
            (void)orrery::setAttribute(inner, "size", std::to_string(spec->endpoints()));
        parts.push_back(std::move(inner));
    }
    Component outer = named({}, shape);
    (void)orrery::setAttribute(outer, "shape", shape.toStdString());
    (void)orrery::setAttribute(outer, "size", "2");
    parts.push_back(std::move(outer));
    emit addRequested(path_, parts);
}

void TopologySection::removeCurrent() {
    const auto all = dimensions();
    const auto row = static_cast<std::size_t>(stack_->currentRow());
    if (row >= all.size()) return;
    ComponentPath child = path_;
    child.push_back(all[row]);
    emit removeRequested({child});
}

void TopologySection::moveCurrent(int by) {
    const auto all = dimensions();
    const int row = stack_->currentRow(), to = row + by;
    if (row < 0 || to < 0 || to >= static_cast<int>(all.size()) || row >= static_cast<int>(all.size())) return;
    ComponentPath child = path_;
    child.push_back(all[static_cast<std::size_t>(row)]);
    const int target = all[static_cast<std::size_t>(to)];
    stack_->setCurrentRow(to);  // stays with the dimension that is moved
    emit moveRequested(child, path_, by > 0 ? target + 1 : target);
}

bool TopologySection::eventFilter(QObject* watched, QEvent* event) {
    if (watched == stack_ && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool alt = key->modifiers() & Qt::AltModifier;
        if (key->key() == Qt::Key_Delete) {
            removeCurrent();
            return true;
        }
        if (alt && (key->key() == Qt::Key_Up || key->key() == Qt::Key_Down)) {
            moveCurrent(key->key() == Qt::Key_Up ? -1 : 1);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace orrery::ui
