#include "widgets/panels/attribute_row.h"

#include "widgets/common/log_slider.h"
#include "widgets/common/text.h"
#include "widgets/common/value_edit.h"

#include <QComboBox>
#include <QGridLayout>
#include <QToolButton>

#include <cmath>

namespace orrery::ui {
namespace {

QString readable(const QString& name) {
    QString words = name.section(QLatin1Char('.'), -1);
    words.replace(QLatin1Char('_'), QLatin1Char(' '));
    if (!name.contains(QLatin1Char('.')) && !words.isEmpty()) words[0] = words[0].toUpper();
    return words;
}

/// A choice must not change because the panel scrolls under the mouse.
class QuietCombo : public QComboBox {
public:
    using QComboBox::QComboBox;

protected:
    void wheelEvent(QWheelEvent* event) override { event->ignore(); }
};

}  // namespace

RowSpec RowSpec::of(const AttributeSpec& spec) {
    RowSpec row;
    row.id = qs(spec.name);
    row.label = readable(row.id);
    row.meaning = qs(spec.meaning);
    row.form = spec.form;
    row.dimension = spec.dimension;
    row.fallback = spec.fallback;
    row.lowest = spec.lowest;
    row.highest = spec.highest;
    for (const std::string_view choice : spec.choices) row.choices << qs(choice);
    row.explorable = spec.explorable;
    return row;
}

QString RowSpec::toolTip() const {
    QString tip = QStringLiteral("<p><b>%1</b>").arg(label.toHtmlEscaped());
    if (!meaning.isEmpty()) tip += QStringLiteral("<br>") + meaning.toHtmlEscaped();
    tip += QStringLiteral("</p>");
    QStringList lines;
    if (form == AttributeForm::Measure) {
        const QString unit = qs(baseUnit(dimension));
        lines << (unit.isEmpty() ? qs(orrery::toText(dimension))
                                 : AttributeRow::tr("%1, in %2").arg(qs(orrery::toText(dimension)), unit));
        if (fallback) lines << AttributeRow::tr("Default: %1").arg(measureText(*fallback, false, dimension));
        if (lowest < highest)
            lines << AttributeRow::tr("Usual: %1 to %2")
                         .arg(measureText(lowest, false, dimension), measureText(highest, false, dimension));
        lines << AttributeRow::tr("Enter applies, Esc restores, ↑ ↓ step by 5 %");
    }
    if (!lines.isEmpty()) tip += QStringLiteral("<p>") + lines.join(QStringLiteral("<br>")) + QStringLiteral("</p>");
    return tip;
}

AttributeRow::AttributeRow(RowSpec spec, QWidget* parent) : QWidget(parent), spec_(std::move(spec)) {
    build();
}

void AttributeRow::build() {
    const QString name = QStringLiteral("inspector.") + spec_.id;
    const QString tip = spec_.toolTip();
    setObjectName(name + QStringLiteral(".row"));
    grid_ = new QGridLayout(this);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(6);
    grid_->setVerticalSpacing(0);

    label_ = new Label(spec_.label, FontRole::Body, Tone::Muted, this);
    label_->setElided(true);
    label_->setToolTip(tip);

    if (spec_.form == AttributeForm::Choice) {
        choice_ = new QuietCombo(this);
        choice_->addItems(spec_.choices);
        choice_->setObjectName(name);
        choice_->setAccessibleName(spec_.label);
        choice_->setToolTip(tip);
        choice_->setMinimumContentsLength(6);
        choice_->setFocusPolicy(Qt::StrongFocus);
        choice_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        connect(choice_, &QComboBox::activated, this,
                [this](int at) { emit edited(choice_->itemText(at), EditPhase::Commit); });
    } else {
        edit_ = new ValueEdit(this);
        if (spec_.form == AttributeForm::Measure) edit_->setMeasure(spec_.dimension);
        if (spec_.form != AttributeForm::Measure) edit_->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
        edit_->setClearable(spec_.clearable);
        edit_->setObjectName(name);
        edit_->setAccessibleName(spec_.label);
        edit_->setToolTip(tip);
        edit_->setMinimumWidth(64);
        connect(edit_, &ValueEdit::committed, this,
                [this](const QString& text) { emit edited(text, EditPhase::Commit); });
        connect(edit_, &ValueEdit::cleared, this, &AttributeRow::removed);
        connect(edit_, &ValueEdit::diagnosed, this, &AttributeRow::showDiagnostic);
    }
    if (spec_.explorable && spec_.form == AttributeForm::Measure) {
        slider_ = new LogSlider(this);
        slider_->setObjectName(name + QStringLiteral(".slider"));
        slider_->setAccessibleName(tr("%1, slider").arg(spec_.label));
        slider_->setToolTip(tr("%1: drag to explore; ← → step by 5 %, Esc puts a drag back").arg(spec_.label));
        connect(slider_, &LogSlider::edited, this, [this](double value, EditPhase phase) {
            const QString text =
                phase == EditPhase::Begin && value_.measure
                    ? value_.text
                    : (spec_.dimension == Dimension::Count ? QString::number(value, 'f', 0)
                                                           : measureText(value, perCycle_, spec_.dimension, binary_));
            emit edited(text, phase);
        });
    }
    chip_ = new Chip(this);
    chip_->setObjectName(name + QStringLiteral(".source"));
    chip_->setAccessibleName(tr("Source of %1").arg(spec_.label));
    reset_ = new QToolButton(this);
    reset_->setObjectName(name + QStringLiteral(".reset"));
    reset_->setAccessibleName(tr("Reset %1").arg(spec_.label));
    reset_->setAutoRaise(true);
    reset_->setIconSize({14, 14});
    reset_->setFixedSize(20, 20);
    reset_->setFocusPolicy(Qt::TabFocus);
    auto keep = reset_->sizePolicy();
    keep.setRetainSizeWhenHidden(true);
    reset_->setSizePolicy(keep);
    const auto setIcon = [this] { reset_->setIcon(Theme::instance().icon(QStringLiteral("edit-undo"))); };
    setIcon();
    connect(&Theme::instance(), &Theme::changed, this, setIcon);
    connect(reset_, &QToolButton::clicked, this, [this] {
        if (value_.preset && !value_.preset->isEmpty())
            emit edited(*value_.preset, EditPhase::Commit);
        else
            emit removed();
    });
    error_ = new Label({}, FontRole::Small, Tone::Bad, this);
    error_->setObjectName(name + QStringLiteral(".error"));
    error_->setWordWrap(true);
    error_->hide();
    setWide(false, 104);
}

void AttributeRow::setWide(bool wide, int labelWidth) {
    label_->setFixedWidth(labelWidth);
    chip_->setCompact(!wide);
    if (wide_ == wide) return;
    wide_ = wide;
    while (grid_->count() > 0) delete grid_->takeAt(0);
    QWidget* editor = choice_ ? static_cast<QWidget*>(choice_) : edit_;
    grid_->addWidget(label_, 0, 0);
    if (wide && slider_) {
        grid_->addWidget(slider_, 0, 1);
        grid_->addWidget(editor, 0, 2);
    } else {
        grid_->addWidget(editor, 0, 1, 1, 2);
        if (slider_) grid_->addWidget(slider_, 1, 0, 1, 3);
    }
    if (edit_) edit_->setMaximumWidth(wide && slider_ ? 128 : QWIDGETSIZE_MAX);
    chip_->setFixedWidth(wide ? 96 : 16);
    grid_->addWidget(chip_, 0, 3);
    grid_->addWidget(reset_, 0, 4);
    grid_->addWidget(error_, 2, 0, 1, 5);
    grid_->setColumnStretch(1, 3);
    grid_->setColumnStretch(2, wide ? 2 : 0);
}

void AttributeRow::show(const RowValue& value) {
    if (shown_ && value == value_) return;
    shown_ = true;
    value_ = value;
    binary_ = isBinary(value.text);
    perCycle_ = value.measure && value.measure->perCycle;
    if (choice_) {
        const QSignalBlocker quiet(choice_);
        int at = choice_->findText(value.text);
        if (at < 0 && !value.text.isEmpty()) {
            choice_->addItem(value.text);
            at = choice_->count() - 1;
        }
        choice_->setCurrentIndex(at);
        choice_->setPlaceholderText(tr("not given"));
    } else {
        edit_->setFallback(spec_.fallback ? measureText(*spec_.fallback, false, spec_.dimension) : tr("not given"));
        edit_->setStored(value.text);
    }
    showSlider();
    showChip();
    const bool differs = value.preset ? *value.preset != value.text : !value.text.isEmpty() && spec_.clearable;
    reset_->setVisible(differs);
    reset_->setToolTip(value.preset && !value.preset->isEmpty() ? tr("Back to the preset’s %1").arg(*value.preset)
                       : spec_.fallback
                           ? tr("Back to the default, %1").arg(measureText(*spec_.fallback, false, spec_.dimension))
                           : tr("Remove this value"));
}

void AttributeRow::showSlider() {
    if (!slider_) return;
    const std::optional<double> at = value_.measure ? std::optional(value_.measure->si) : spec_.fallback;
    slider_->setEnabled(at && *at > 0);
    if (!at || *at <= 0) return;
    if (!slider_->isDragging()) {
        // The usual range if there is one; a rate per cycle has none in its own unit, so two decades around it.
        const bool ranged = spec_.lowest < spec_.highest && spec_.highest > 0 && !perCycle_;
        double low = ranged ? std::max(spec_.lowest, spec_.highest * 1e-6) : *at / 100;
        double high = ranged ? spec_.highest : *at * 100;
        if (spec_.dimension == Dimension::Count || spec_.dimension == Dimension::Fraction) {
            if (spec_.dimension == Dimension::Count) low = std::max(1.0, std::round(low));
            if (spec_.dimension == Dimension::Fraction) high = std::min(high, 1.0);
        }
        slider_->setLogRange(std::min(low, *at), std::max(high, *at),
                             spec_.powersOfTwo                     ? LogSlider::Snap::PowerOfTwo
                             : spec_.dimension == Dimension::Count ? LogSlider::Snap::Whole
                                                                   : LogSlider::Snap::Digits);
    }
    slider_->setValue(*at);
    std::optional<double> mark = spec_.fallback;
    if (value_.preset) {
        if (const auto preset = parseMeasure(value_.preset->toStdString(), spec_.dimension)) mark = preset->si;
    }
    slider_->setMark(mark);
}

void AttributeRow::showChip() {
    const QString note = value_.note.isEmpty() ? QString() : QStringLiteral("\n") + value_.note;
    if (value_.text.isEmpty()) {
        if (spec_.fallback)
            return chip_->set(
                tr("default"), Tone::Muted,
                tr("Not given: %1 is assumed.").arg(measureText(*spec_.fallback, false, spec_.dimension)));
        return chip_->set({}, Tone::Muted, tr("Not given"));
    }
    const bool ranged = spec_.form == AttributeForm::Measure && spec_.lowest < spec_.highest;
    if (ranged && value_.measure && !value_.measure->perCycle &&
        (value_.measure->si < spec_.lowest || value_.measure->si > spec_.highest))
        return chip_->set(tr("unusual"), Tone::Warning,
                          tr("Outside the usual range, %1 to %2.")
                                  .arg(measureText(spec_.lowest, false, spec_.dimension),
                                       measureText(spec_.highest, false, spec_.dimension)) +
                              note);
    if (value_.preset && *value_.preset != value_.text)
        return chip_->set(tr("edited"), Tone::Accent,
                          value_.preset->isEmpty() ? tr("Not given in the preset.")
                                                   : tr("The preset says %1.").arg(*value_.preset) + note);
    if (value_.source == QStringLiteral("unverified"))
        return chip_->set(tr("unverified"), Tone::Warning,
                          tr("Nobody has checked this value against a source.") + note);
    if (value_.source.isEmpty()) return chip_->set({}, Tone::Muted, tr("No source is given for this value.") + note);
    chip_->set(value_.source, Tone::Normal, (value_.sourceText.isEmpty() ? value_.source : value_.sourceText) + note);
}

void AttributeRow::showDiagnostic() {
    const auto& refused = edit_->diagnostic();
    error_->setVisible(refused.has_value());
    if (!refused) return error_->setFullText({});
    QString text = qs(refused->message);
    const std::string& more = refused->hint.empty() ? refused->expected : refused->hint;
    if (!more.empty()) text += QStringLiteral(" – ") + qs(more);
    error_->setFullText(text);
}

}  // namespace orrery::ui
