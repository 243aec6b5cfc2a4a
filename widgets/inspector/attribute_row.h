#pragma once

#include "hardware/attributes.h"
#include "widgets/common/chip.h"
#include "widgets/common/edit_phase.h"

#include <QStringList>

#include <optional>

class QComboBox;

namespace orrery::ui {

class IconButton;
class LogSlider;
class ValueEdit;

/// What a row edits, from an attribute's declaration or made by hand (count, mesh, batch).
struct RowSpec {
    QString id;     ///< `bandwidth`, `macs.bf16`: the attribute's name in signals
    QString label;  ///< `Bandwidth`
    QString meaning;
    AttributeForm form = AttributeForm::Measure;
    Dimension dimension = Dimension::Number;
    std::optional<double> fallback;
    QString example;  ///< a usual value, shown while nothing is given: the part is of little use without it
    double lowest = 0, highest = 0;  ///< usual range, SI; equal: none
    QStringList choices;
    bool explorable = false;
    bool clearable = true;
    const AttributeSpec* attribute = nullptr;  ///< null for rows made by hand
    bool powersOfTwo = false;                  ///< the slider snaps to 1, 2, 4, …
    bool sliderIfGiven = false;                ///< no slider while there is only a default
    bool turns = false;                        ///< a row made by hand that a search can turn
    bool chooser = false;  ///< text chosen from a list that setChoices() gives; the empty one removes it
    QString disabled;      ///< why it cannot be edited here; empty: it can

    static RowSpec of(const AttributeSpec& spec);
    /// Meaning, unit, default and usual range, as rich text for a tooltip.
    QString toolTip() const;
};

/// What a row shows.
struct RowValue {
    std::optional<Measure> measure = std::nullopt;
    QString text = {};  ///< spelling; empty: absent
    QString source = {}, sourceText = {}, note = {};
    std::optional<QString> preset = std::nullopt;  ///< spelling in the preset
    bool mixed = false;                            ///< of many components with different values; `text` is empty
    bool mixedSources = false;                     ///< of many with one value from different sources
    QString mixedValues = {};                      ///< the different values, for the tooltip
    bool operator==(const RowValue&) const = default;
};

/// One attribute: label, typed editor, log slider where it is worth exploring, provenance, reset. In place: showing
/// another value never takes the focus, the text being typed or the slider being dragged away.
class AttributeRow : public QWidget {
    Q_OBJECT
public:
    explicit AttributeRow(RowSpec spec, QWidget* parent = nullptr);
    const RowSpec& spec() const { return spec_; }
    void show(const RowValue& value);
    /// Slider beside the editor if wide, under it if not; labels of all rows end at the same place.
    void setWide(bool wide, int labelWidth);
    ValueEdit* edit() const { return edit_; }
    LogSlider* slider() const { return slider_; }
    Chip* chip() const { return chip_; }
    IconButton* reset() const { return reset_; }
    QComboBox* choice() const { return choice_; }
    void setChoices(const QStringList& choices, const QString& none);  ///< of a chooser; `none` is the empty one
    bool isGiven() const { return !value_.text.isEmpty() || value_.mixed; }
    QSize sizeHint() const override { return {200, height()}; }
    QSize minimumSizeHint() const override { return {120, height()}; }

signals:
    void edited(const QString& text, EditPhase phase);
    void removed();
    /// A drag of the slider ended where it began over different values: they are to be as they were.
    void restored();
    void turnRequested();  ///< a search is to turn this number

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void build();
    void arrange();
    void showSlider();
    bool isUnusual() const;
    void showChip();
    void showDiagnostic();

    RowSpec spec_;
    RowValue value_;
    bool shown_ = false;
    bool wide_ = false;
    int labelWidth_ = 104;
    Label* label_;
    ValueEdit* edit_ = nullptr;
    QComboBox* choice_ = nullptr;
    LogSlider* slider_ = nullptr;
    Chip* chip_;
    IconButton* reset_;
    Label* error_;
    double anchor_ = 0;  ///< in the middle of the slider's range
    bool binary_ = false;
    bool perCycle_ = false;
    std::optional<double> mixedFrom_;  ///< where the slider stood when a drag over different values began
};

}  // namespace orrery::ui
