#include "hardware/attributes.h"
#include "widgets/common/glyphs.h"
#include "widgets/common/text.h"
#include "widgets/common/value_edit.h"
#include "widgets/inspector/attribute_row.h"
#include "widgets/inspector/attribute_values.h"
#include "widgets/inspector/component_form.h"
#include "widgets/messages/identity_checks.h"

#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {
namespace {

RowSpec identityRow(const QString& id, const QString& label, const QString& meaning, AttributeForm form) {
    RowSpec row;
    row.id = id;
    row.label = label;
    row.meaning = meaning;
    row.form = form;
    row.clearable = false;
    return row;
}

RowSpec countRow(const QString& id, const QString& label, const QString& meaning) {
    RowSpec row = identityRow(id, label, meaning, AttributeForm::Measure);
    row.dimension = Dimension::Count;
    row.lowest = 1;
    row.highest = 1024;
    row.explorable = true;
    return row;
}

/// Of the first kind that is of little use without it; empty: none is.
QString neededExample(const std::vector<ComponentKind>& kinds, std::string_view attribute) {
    for (const ComponentKind kind : kinds) {
        // What stands in it may give the rate instead, so that nobody warns; the field is in sight all the same.
        if (kind == ComponentKind::Topology && attribute == "bandwidth") return QStringLiteral("450 GB/s");
        for (const NeededAttribute& needed : neededAttributes(kind))
            if (needed.name == attribute) return qs(needed.example);
    }
    return {};
}

/// Counts are explored too: channels, ports, lanes.
RowSpec attributeRow(const AttributeSpec& spec, const std::vector<ComponentKind>& kinds) {
    RowSpec row = RowSpec::of(spec);
    if (spec.form == AttributeForm::Measure && spec.dimension == Dimension::Count && !spec.explorable) {
        row.explorable = true;
        row.sliderIfGiven = true;
    }
    if (const QString example = neededExample(kinds, spec.name); !example.isEmpty()) {
        row.example = example;
        row.sliderIfGiven = true;
    }
    row.chooser = spec.form == AttributeForm::Text && (spec.name == "from" || spec.name == "to");
    return row;
}

}  // namespace

void ComponentForm::buildHead() {
    auto* head = new QHBoxLayout;
    head->setSpacing(8);
    const auto all = components();
    const bool oneKind = std::all_of(all.begin(), all.end(),
                                     [&](const Component* component) { return component->kind == all.front()->kind; });
    if (oneKind) {
        auto* picture = new QLabel(page_);
        const auto draw = [picture, kind = all.front()->kind] { picture->setPixmap(glyph(kind).pixmap(24, 24)); };
        draw();
        connect(&Theme::instance(), &Theme::changed, picture, draw);
        head->addWidget(picture, 0, Qt::AlignVCenter);
    }
    auto* words = new QVBoxLayout;
    words->setSpacing(0);
    title_ = new Label({}, FontRole::Title, Tone::Normal, page_);
    title_->setElided(true);
    title_->setBold(true);
    title_->setObjectName(QStringLiteral("inspector.title"));
    subtitle_ = new Label({}, FontRole::Small, Tone::Muted, page_);
    subtitle_->setElided(true);
    subtitle_->setObjectName(QStringLiteral("inspector.subtitle"));
    words->addWidget(title_);
    words->addWidget(subtitle_);
    head->addLayout(words, 1);
    column_->addLayout(head);
}

void ComponentForm::buildIdentity() {
    const bool many = paths_.size() > 1;
    column_->addWidget(new SectionHeader(many ? tr("Components") : tr("Component"), page_));
    RowSpec name =
        identityRow(QStringLiteral("name"), tr("Name"), tr("Its name in paths and plots."), AttributeForm::Text);
    if (many) name.disabled = tr("Siblings need names of their own: select one component to rename it");
    addRow(name)->edit()->setCheck(checkName);
    const auto all = components();
    if (std::ranges::none_of(all, [](const Component* one) { return one->kind == ComponentKind::System; })) {
        const bool array = std::ranges::any_of(all, [](auto* one) { return one->kind == ComponentKind::Array; });
        addRow(countRow(QStringLiteral("count"), tr("Count"),
                        array ? tr("Identical copies, drawn once. Rows and columns of an array are its mesh.")
                              : tr("Identical copies, drawn once. As rows × columns, such as 12×11, they make a "
                                   "grid; a plain number takes it away.")))
            ->edit()
            ->setCheck(checkCopies);
    }
    const bool meshed = std::ranges::all_of(
        all, [](const Component* one) { return one->kind == ComponentKind::Array || !one->mesh.empty(); });
    if (!meshed) return;
    addRow(identityRow(QStringLiteral("mesh"), tr("Mesh"), tr("Copies in a grid, for example 14×12."),
                       AttributeForm::Text))
        ->edit()
        ->setCheck(checkMesh);
    if (!sameMesh()) return;
    for (std::size_t side = 0; side < current().mesh.size(); ++side)
        addRow(
            countRow(QStringLiteral("mesh.%1").arg(side), tr("   side %1").arg(side + 1), tr("One side of the grid.")))
            ->edit()
            ->setCheck(checkCount);
}

void ComponentForm::buildAttributes() {
    std::vector<ComponentKind> kinds;
    for (const Component* component : components())
        if (std::ranges::find(kinds, component->kind) == kinds.end()) kinds.push_back(component->kind);
    column_->addWidget(new SectionHeader(kinds.size() > 1 ? tr("Attributes of all") : tr("Attributes"), page_));
    // What the part needs, what can be explored and has a value, the ends of a link: it is what people come for.
    const auto first = [this, &kinds](const AttributeSpec& spec) {
        return !neededExample(kinds, spec.name).isEmpty() || isLinkEnd(spec.name) || spec.name == "shape" ||
               (spec.explorable && std::ranges::any_of(components(), [&spec](const Component* component) {
                    return component->find(spec.name) != nullptr;
                }));
    };
    const std::vector<const AttributeSpec*> common = commonAttributes(kinds);
    for (const bool wanted : {true, false}) {
        for (const AttributeSpec* spec : common) {
            if (first(*spec) != wanted) continue;
            if (spec->form == AttributeForm::Table) {
                addTable(*spec);
                continue;
            }
            RowSpec row = attributeRow(*spec, kinds);
            if (row.chooser && std::ranges::any_of(paths_, [this](const ComponentPath& path) {
                    return !std::ranges::equal(ComponentPath(path.begin(), path.end() - 1),
                                               ComponentPath(paths_.back().begin(), paths_.back().end() - 1));
                }))
                row.disabled = tr("These links have different parents: select links of one parent to set their ends");
            addRow(row);
        }
    }
}

void ComponentForm::addTable(const AttributeSpec& spec) {
    const RowSpec whole = RowSpec::of(spec);
    auto* line = new QHBoxLayout;
    auto* label = new Label(whole.label, FontRole::Body, Tone::Muted, page_);
    label->setToolTip(whole.toolTip());
    line->addWidget(label, 1);
    auto* add = new QToolButton(page_);
    add->setObjectName(QStringLiteral("inspector.%1.add").arg(whole.id));
    add->setAccessibleName(tr("Add to %1").arg(whole.label));
    add->setToolTip(tr("Add a precision to %1").arg(whole.label));
    add->setText(QStringLiteral("+"));
    add->setAutoRaise(true);
    add->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(add);
    add->setMenu(menu);
    line->addWidget(add);
    column_->addLayout(line);

    QStringList present;
    QString first = QStringLiteral("1/cycle");
    for (const Component* component : components()) {
        const Attribute* given = component->find(spec.name);
        const auto* rows = given ? std::get_if<std::vector<TableRow>>(&given->value) : nullptr;
        if (!rows) continue;
        for (const TableRow& row : *rows) {
            if (present.contains(qs(row.key))) continue;
            RowSpec sub = whole;
            sub.form = AttributeForm::Measure;
            sub.label = QStringLiteral("   ") + qs(row.key);
            sub.id = whole.id + QLatin1Char('.') + qs(row.key);
            sub.fallback.reset();
            addRow(sub);
            if (present.isEmpty()) first = measureText(row.value, spec.dimension);
            present << qs(row.key);
        }
    }
    QStringList keys = whole.choices;
    if (keys.isEmpty())
        for (int type = 0; type < dtypeCount; ++type)
            if (const auto dtype = static_cast<DType>(type); dtype != DType::Bool && dtype != DType::String)
                keys << qs(toText(dtype));
    for (const QString& key : keys) {
        if (present.contains(key)) continue;
        menu->addAction(key, this, [this, id = whole.id, key, first] {
            added_ = id + QLatin1Char('.') + key;
            emit edited(paths_, added_, first, EditPhase::Commit);
        });
    }
}

}  // namespace orrery::ui
