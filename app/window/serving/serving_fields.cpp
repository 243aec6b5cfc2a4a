#include "app/window/serving/serving_fields.h"

#include "app/window/form_parts.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <QCheckBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace orrery::app {

namespace {

QFormLayout* plainForm(QWidget* on) {
    auto* form = new QFormLayout(on);
    form->setContentsMargins(0, 0, 0, 0);
    form->setVerticalSpacing(ui::Theme::instance().unit() / 2);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    return form;
}

/// As a person would write it: digits enough, no more.
QString spelled(double value, Dimension dimension) {
    return ui::text(value, dimension, 4);
}

}  // namespace

FieldRows::FieldRows(QFormLayout* form, QWidget* parent) : QObject(parent), form_(form), parent_(parent) {}

void FieldRows::add(QWidget* control, const Name& name, bool labelled, const If& shown,
                    std::function<void(const ServingStudy&)> fill) {
    control->setObjectName(name.id);
    control->setAccessibleName(name.label);
    control->setToolTip(name.tip);
    if (labelled) {
        auto* label = new ui::Label(name.label, ui::FontRole::Body, ui::Tone::Normal, parent_);
        label->setToolTip(name.tip);
        label->setBuddy(control);
        form_->addRow(label, control);
    } else {
        form_->addRow(control);
    }
    rows_.push_back({control, shown, std::move(fill)});
}

void FieldRows::tell(QuestionChange change) {
    if (!filling_) emit edited(change);
}

void FieldRows::show(const ServingStudy& question) {
    filling_ = true;
    for (const Row& row : rows_) {
        const bool shown = !row.shown || row.shown(question);
        form_->setRowVisible(row.control, shown);
        if (shown) row.fill(question);
    }
    filling_ = false;
}

QSpinBox* FieldRows::whole(const Name& name, int low, int high, Bound<int> value, If shown, const QString& atLow) {
    auto* box = new QSpinBox(parent_);
    box->setRange(low, high);
    box->setGroupSeparatorShown(true);
    box->setSpecialValueText(atLow);
    add(box, name, true, shown, [box, get = value.get](const ServingStudy& q) { box->setValue(get(q)); });
    connect(box, &QSpinBox::valueChanged, this,
            [this, set = value.set](int to) { tell([set, to](ServingStudy& q) { set(q, to); }); });
    return box;
}

ui::ValueEdit* FieldRows::measure(const Name& name, Dimension dimension, Bound<double> value, const QString& unset,
                                  If shown, double low, double high) {
    auto* edit = new ui::ValueEdit(parent_);
    edit->setMeasure(dimension);
    edit->setFallback(unset);
    edit->setClearable(!unset.isEmpty());
    edit->setCheck([dimension, low, high](const QString& text) -> std::optional<Diagnostic> {
        const auto read = parseMeasure(text.trimmed().toStdString(), dimension);
        if (read && read->si >= low && read->si <= high) return std::nullopt;
        Diagnostic wrong;
        wrong.code = "serving.value";
        wrong.message = text.toStdString() + " is out of range";
        wrong.expected = formatMeasure(low, dimension) + " to " + formatMeasure(high, dimension);
        return wrong;
    });
    const auto tip = name.tip;
    connect(edit, &ui::ValueEdit::diagnosed, edit, [edit, tip] {
        const auto& wrong = edit->diagnostic();
        edit->setToolTip(wrong ? ui::qs(wrong->message) + QStringLiteral("; ") + ui::qs(wrong->expected) : tip);
    });
    add(edit, name, true, shown, [edit, get = value.get, dimension, unset](const ServingStudy& q) {
        const double now = get(q);
        edit->setStored(now == 0 && !unset.isEmpty() ? QString() : spelled(now, dimension));
    });
    connect(edit, &ui::ValueEdit::committed, this, [this, set = value.set, dimension](const QString& text) {
        if (const auto read = parseMeasure(text.toStdString(), dimension))
            tell([set, to = read->si](ServingStudy& q) { set(q, to); });
    });
    connect(edit, &ui::ValueEdit::cleared, this,
            [this, set = value.set] { tell([set](ServingStudy& q) { set(q, 0); }); });
    return edit;
}

QComboBox* FieldRows::choice(const Name& name, const std::vector<std::pair<QString, QVariant>>& entries,
                             Bound<QVariant> value, If shown) {
    auto* box = new QComboBox(parent_);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(10);
    for (const auto& [text, data] : entries) box->addItem(text, data);
    add(box, name, true, shown,
        [box, get = value.get](const ServingStudy& q) { box->setCurrentIndex(box->findData(get(q))); });
    connect(box, &QComboBox::activated, this,
            [this, box, set = value.set] { tell([set, to = box->currentData()](ServingStudy& q) { set(q, to); }); });
    return box;
}

QCheckBox* FieldRows::flag(const Name& name, Bound<bool> value, If shown) {
    auto* box = new QCheckBox(name.label, parent_);
    add(box, name, false, shown, [box, get = value.get](const ServingStudy& q) { box->setChecked(get(q)); });
    connect(box, &QCheckBox::clicked, this,
            [this, set = value.set](bool on) { tell([set, on](ServingStudy& q) { set(q, on); }); });
    return box;
}

QWidget* FieldRows::word(const Name& name, Bound<QString> value, If shown) {
    auto* line = new QLineEdit(parent_);
    add(line, name, true, shown, [line, get = value.get](const ServingStudy& q) {
        if (line->text() != get(q)) line->setText(get(q));
    });
    connect(line, &QLineEdit::editingFinished, this, [this, line, set = value.set] {
        if (!line->isModified()) return;
        line->setModified(false);
        tell([set, to = line->text().trimmed()](ServingStudy& q) { set(q, to); });
    });
    return line;
}

void FieldRows::note(const QString& id, std::function<QString(const ServingStudy&)> text) {
    auto* label = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, parent_);
    label->setObjectName(id);
    label->setWordWrap(true);
    form_->addRow(label);
    rows_.push_back({label, [text](const ServingStudy& q) { return !text(q).isEmpty(); },
                     [label, text](const ServingStudy& q) { label->setText(text(q)); }});
}

FieldFold::FieldFold(const QString& id, const QString& title, const QString& tip,
                     std::function<QString(const ServingStudy&)> summary, QWidget* parent)
    : ui::Fold(id, title, tip, parent), rows_(new FieldRows(plainForm(body()), body())), summary_(std::move(summary)) {
    connect(rows_, &FieldRows::edited, this, &FieldFold::edited);
}

void FieldFold::show(const ServingStudy& question) {
    setVisible(!shownIf_ || shownIf_(question));
    head()->setSummary(summary_(question));
    rows_->show(question);
}

ListFold::ListFold(const QString& id, const QString& title, const QString& tip,
                   std::function<QString(const ServingStudy&)> summary, Items items, QWidget* parent)
    : FieldFold(id, title, tip, std::move(summary), parent), items_(std::move(items)), id_(id) {
    auto* form = static_cast<QFormLayout*>(body()->layout());
    auto* add = new QPushButton(items_.addText, body());
    add->setObjectName(id + QStringLiteral(".add"));
    add->setAccessibleName(items_.addText);
    add->setToolTip(items_.addTip);
    form->addRow(add);
    connect(add, &QPushButton::clicked, this, [this] { emit edited(items_.add); });
}

QWidget* ListFold::card(std::size_t index) {
    const int unit = ui::Theme::instance().unit();
    auto* holder = new QWidget(body());
    auto* column = new QVBoxLayout(holder);
    column->setContentsMargins(0, 0, 0, unit / 2);
    column->setSpacing(unit / 2);
    const QString name = items_.title.arg(index + 1);
    auto* row = new QHBoxLayout;
    row->addWidget(new ui::Label(name, ui::FontRole::Small, ui::Tone::Accent, holder), 1);
    auto* remove = new ui::IconButton(QStringLiteral("list-remove"), tr("Remove %1").arg(name),
                                      QStringLiteral("%1.%2.remove").arg(id_).arg(index), holder);
    row->addWidget(remove);
    column->addLayout(row);
    auto* inner = new QWidget(holder);
    column->addWidget(inner);
    auto* rows = new FieldRows(plainForm(inner), inner);
    items_.build(*rows, index);
    // A card may go while its own control speaks: it is removed after the signal.
    connect(rows, &FieldRows::edited, this, &FieldFold::edited, Qt::DirectConnection);
    connect(remove, &QToolButton::clicked, this,
            [this, index] { emit edited([this, index](ServingStudy& q) { items_.remove(q, index); }); });
    cards_.push_back(holder);
    fields_.push_back(rows);
    return holder;
}

void ListFold::show(const ServingStudy& question) {
    auto* form = static_cast<QFormLayout*>(body()->layout());
    const std::size_t count = items_.count(question);
    while (cards_.size() > count) {
        form->takeRow(cards_.back());
        cards_.back()->hide();
        cards_.back()->deleteLater();
        cards_.pop_back();
        fields_.pop_back();
    }
    while (cards_.size() < count) {
        const int at = static_cast<int>(cards_.size());
        form->insertRow(at, card(cards_.size()));
    }
    for (FieldRows* fields : fields_) fields->show(question);
    FieldFold::show(question);
}

}  // namespace orrery::app
