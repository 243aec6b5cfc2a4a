#pragma once

// What turns, what is wanted, who asks: the settings of a search as controls.

#include "app/window/explore/explore_question.h"

#include <QScrollArea>

#include <vector>

class QComboBox;
class QGridLayout;
class QSpinBox;
class QVBoxLayout;

namespace orrery::ui {
class Label;
class ValueEdit;
}  // namespace orrery::ui

namespace orrery::app {

class LimitRows;

class ExploreForm : public QScrollArea {
    Q_OBJECT
public:
    explicit ExploreForm(QWidget* parent = nullptr);
    struct Offers {
        std::vector<KnobOffer> knobs;
        std::vector<LimitOffer> limits;
        QStringList figures;  ///< labels of the figures of the newest answer
    };
    void setQuestion(const ExploreQuestion& question, const Offers& offers);
    /// Points of the whole space; 0: not known, and why.
    void setPoints(std::uint64_t points, const QString& why = {});

signals:
    void edited(const orrery::SearchSettings& settings, const QString& words);

private:
    void buildWishes(QGridLayout* grid, QWidget* body);
    void showKnobs();
    void showOffers();
    void showWishes();
    void addKnob(int offer);
    void change(const SearchSettings& settings, const QString& words);

    SearchSettings settings_;
    Offers offers_;
    bool shown_ = false, serving_ = false;

    QVBoxLayout* rows_ = nullptr;
    QWidget* rowsBody_ = nullptr;
    QComboBox* add_ = nullptr;
    QComboBox *across_ = nullptr, *up_ = nullptr, *also_ = nullptr, *method_ = nullptr, *agent_ = nullptr;
    LimitRows* limits_ = nullptr;
    ui::ValueEdit* price_ = nullptr;
    QSpinBox* most_ = nullptr;
    ui::Label* points_ = nullptr;
};

}  // namespace orrery::app
