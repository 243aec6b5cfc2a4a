#pragma once

// What a search may change, to be ticked: each kind of choice folds away and says what is ticked.

#include "app/window/serving/serving_sections.h"

#include <QWidget>

#include <map>

class QCheckBox;
class QVBoxLayout;

namespace orrery::app {

/// A thing that a sweep changes (sweepKeys()), in words, and the values that are offered.
struct SearchAxis {
    std::string key;
    QString title, head, tip;  ///< head: short, for a table
    std::vector<std::pair<std::string, QString>> offers;
    bool wide = false;  ///< long names: one below the other
    FieldRows::If shown;
};
const std::vector<SearchAxis>& searchAxes();
/// `h100-sxm@2.5` as `NVIDIA H100 SXM, 2.5 $/h`.
QString searchValueText(const std::string& key, const std::string& value);

class SearchChoices : public QWidget {
    Q_OBJECT
public:
    explicit SearchChoices(QWidget* parent = nullptr);
    void show(const ServingStudy& question);
    using QWidget::show;
    std::size_t configurations() const;  ///< that the ticks multiply to

signals:
    void edited(const orrery::app::QuestionChange& change);

private:
    void addAxis(const SearchAxis& axis, QVBoxLayout* column);

    struct Axis {
        const SearchAxis* axis;
        ui::Fold* fold;
        std::map<std::string, QCheckBox*> boxes;
        std::map<std::string, ui::ValueEdit*> prices;
    };
    std::vector<Axis> axes_;
    std::vector<SweepAxis> ticked_;
};

}  // namespace orrery::app
